import { createWalletClient, encodeFunctionData, type Hex, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { nodeTransport } from "#server/sandbox/node-rpc.ts";
import type { Play } from "./finish.ts";
import type { Stage } from "./stage.ts";

const TOKEN = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
]);

type Transfer = { from: Hex; to: Hex; value: string; validBefore: string; nonce: Hex };

/** Brings a payment up to its confirm, and returns what sends the buyer's own authorization from somebody else's account, ahead of everything that waits. */
export async function confirmWithRival(
  stage: Stage,
  { journey }: Play,
  baseUrl: string,
): Promise<() => Promise<Hex>> {
  await journey.create(baseUrl);
  await journey.options(baseUrl);
  const [signature = ""] = await journey.sign();
  const [action] = journey.option()?.actions ?? [];
  if (action === undefined) throw new Error("no action");
  await journey.confirm(baseUrl);
  const m: Transfer = JSON.parse(String(action.data.params[1])).message;
  const data = encodeFunctionData({
    abi: TOKEN,
    functionName: "transferWithAuthorization",
    args: [m.from, m.to, BigInt(m.value), 0n, BigInt(m.validBefore), m.nonce, signature as Hex],
  });
  const rival = createWalletClient({
    account: privateKeyToAccount(stage.test.buyer("usdt").key),
    transport: nodeTransport(stage.url),
  });
  return () =>
    rival.sendTransaction({
      to: stage.deployment.usdc,
      data,
      gas: 300_000n,
      maxPriorityFeePerGas: 900_000_000_000n,
      maxFeePerGas: 2_000_000_000_000n,
      chain: null,
    });
}
