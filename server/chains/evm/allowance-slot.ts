import { encodeAbiParameters, encodeFunctionData, type Hex, keccak256, toHex } from "viem";
import { TOKEN_ABI } from "./abi.ts";
import type { Rpc } from "./rpc.ts";

/** Where a token keeps `allowance[owner][spender]`. */
export type AllowanceSlot = (owner: string, spender: string) => Hex;

/** Plain storage slots tried; deployed tokens keep their allowances in the first few dozen. */
const SLOTS = 64;
/** ERC-7201 location of `openzeppelin.storage.ERC20`; allowances are its second member. */
const NAMESPACED = 0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace01n;
const PROBE = 0x0f1e2d3c4b5a69788796a5b4c3d2e1f0n;
const OWNER = "0x00000000000000000000000000000000f1000001";
const SPENDER = "0x00000000000000000000000000000000f1000002";

const solidity =
  (base: bigint): AllowanceSlot =>
  (owner, spender) => {
    const pair = [{ type: "address" }, { type: "bytes32" }] as const;
    const inner = keccak256(encodeAbiParameters(pair, [owner as Hex, toHex(base, { size: 32 })]));
    return keccak256(encodeAbiParameters(pair, [spender as Hex, inner]));
  };

const vyper =
  (base: bigint): AllowanceSlot =>
  (owner, spender) => {
    const pair = [{ type: "bytes32" }, { type: "address" }] as const;
    const inner = keccak256(encodeAbiParameters(pair, [toHex(base, { size: 32 }), owner as Hex]));
    return keccak256(encodeAbiParameters(pair, [inner, spender as Hex]));
  };

/** Finds the slot by writing a probe value into each candidate of a simulated call and asking the token for it; null: none of them. */
export async function findAllowanceSlot(rpc: Rpc, token: string): Promise<AllowanceSlot | null> {
  const candidates = [...Array(SLOTS).keys()].flatMap((slot) => [
    solidity(BigInt(slot)),
    vyper(BigInt(slot)),
  ]);
  candidates.push(solidity(NAMESPACED));
  const data = encodeFunctionData({
    abi: TOKEN_ABI,
    functionName: "allowance",
    args: [OWNER, SPENDER],
  });
  const value = toHex(PROBE, { size: 32 });
  const answers = await rpc.batch(
    candidates.map((slotOf) => ({
      method: "eth_call",
      params: [
        { to: token, data },
        "latest",
        { [token]: { stateDiff: { [slotOf(OWNER, SPENDER)]: value } } },
      ],
    })),
  );
  return candidates[answers.indexOf(value)] ?? null;
}
