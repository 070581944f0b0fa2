import { encodeFunctionData, type Hex, hashDomain, keccak256 } from "viem";
import type { ChainConfig } from "#server/platform/env.ts";
import type { TokenEntry } from "#server/platform/registry.ts";
import { TOKEN_ABI } from "./abi.ts";
import { PERMIT2_ADDRESS } from "./permit2.ts";
import { type Rpc, RpcRefusal } from "./rpc.ts";

/** What a chain may be used for: `fatal` stops it whole, `refused` are tokens left out, each with its reason. */
export type BootCheck = {
  fatal: string[];
  refused: { symbol: string; address: string; reason: string }[];
};

const read = (to: string, functionName: "decimals" | "DOMAIN_SEPARATOR") => ({
  method: "eth_call",
  params: [{ to, data: encodeFunctionData({ abi: TOKEN_ABI, functionName }) }, "latest"],
});

function domainSeparator(chainId: number, token: TokenEntry): Hex | null {
  if (token.eip3009 === null) return null;
  const { name, version } = token.eip3009;
  return hashDomain({
    domain: { name, version, chainId: BigInt(chainId), verifyingContract: token.address as Hex },
    types: {
      EIP712Domain: [
        { name: "name", type: "string" },
        { name: "version", type: "string" },
        { name: "chainId", type: "uint256" },
        { name: "verifyingContract", type: "address" },
      ],
    },
  });
}

async function checkToken(rpc: Rpc, chainId: number, token: TokenEntry): Promise<string | null> {
  const [code, decimals, separator] = await rpc.batch([
    { method: "eth_getCode", params: [token.address, "latest"] },
    read(token.address, "decimals"),
    read(token.address, "DOMAIN_SEPARATOR"),
  ]);
  if (code === "0x" || code instanceof RpcRefusal) return "no contract at this address";
  if (typeof decimals !== "string" || decimals === "0x")
    return "the contract does not tell its decimals";
  if (BigInt(decimals) !== BigInt(token.decimals))
    return `the contract has ${BigInt(decimals)} decimals, the registry says ${token.decimals}`;
  const wanted = domainSeparator(chainId, token);
  if (wanted !== null && separator !== wanted)
    return "the contract's EIP-712 domain is not the registry's: signatures would not verify";
  return null;
}

/** Compares a configured chain with what is really there. Throws `ChainUnavailable` when no node answers. */
export async function checkChain(
  rpc: Rpc,
  config: ChainConfig,
  signers: string[],
): Promise<BootCheck> {
  const { entry } = config;
  const wanted = Number(entry.caip2.slice("eip155:".length));
  const fatal: string[] = [];
  const chainId = Number(await rpc.read<Hex>("eth_chainId", []));
  if (chainId !== wanted)
    return { fatal: [`the node is on chain ${chainId}, not ${wanted}`], refused: [] };
  if (entry.permit2 !== null) {
    const code = await rpc.read<Hex>("eth_getCode", [PERMIT2_ADDRESS, "latest"]);
    if (code === "0x") fatal.push("Permit2 is not at its canonical address");
    else if (entry.permit2CodeHash !== null && keccak256(code) !== entry.permit2CodeHash)
      fatal.push("Permit2's code is not the one the registry names");
  }
  for (const signer of signers)
    if ((await rpc.read<Hex>("eth_getCode", [signer, "latest"])) !== "0x")
      fatal.push(`${signer} has code: our keys must belong to plain accounts`);
  const refused = [];
  for (const token of entry.tokens) {
    const reason = await checkToken(rpc, chainId, token);
    if (reason !== null) refused.push({ symbol: token.symbol, address: token.address, reason });
  }
  return { fatal, refused };
}
