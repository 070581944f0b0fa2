import { encodeFunctionData, type Hex, hashDomain, hexToString, keccak256 } from "viem";
import type { ChainConfig } from "#server/platform/env.ts";
import type { TokenEntry } from "#server/platform/registry.ts";
import { ChainUnavailable } from "#server/ports/chain.ts";
import { TOKEN_ABI } from "./abi.ts";
import { isWord } from "./context.ts";
import { PERMIT2_ADDRESS } from "./permit2.ts";
import { type Rpc, RpcRefusal } from "./rpc.ts";

/** What a chain may be used for: `fatal` means no token of it is offered, `refused` are single ones left out, each with its reason. */
export type BootCheck = {
  fatal: string[];
  refused: { symbol: string; address: string; reason: string }[];
};

const read = (to: string, functionName: "decimals" | "DOMAIN_SEPARATOR" | "name" | "version") => ({
  method: "eth_call",
  params: [{ to, data: encodeFunctionData({ abi: TOKEN_ABI, functionName }) }, "latest"],
});

const codeAt = (address: string) => ({ method: "eth_getCode", params: [address, "latest"] });

/** A node that does not tell the code says nothing about it. */
function codeOf(answer: unknown): Hex {
  if (typeof answer !== "string") throw new ChainUnavailable("a node does not tell code");
  return answer as Hex;
}

/** A call's answer; null: the contract has no such function. A node that did not run the call says nothing. */
function answerOf(answer: unknown): Hex | null {
  if (answer instanceof RpcRefusal && !answer.executed) throw new ChainUnavailable(answer.message);
  return typeof answer === "string" && answer !== "0x" ? (answer as Hex) : null;
}

const separatorOf = (chainId: bigint, address: string, name: string, version: string): Hex =>
  hashDomain({
    domain: { name, version, chainId, verifyingContract: address as Hex },
    types: {
      EIP712Domain: [
        { name: "name", type: "string" },
        { name: "version", type: "string" },
        { name: "chainId", type: "uint256" },
        { name: "verifyingContract", type: "address" },
      ],
    },
  });

/** A short ABI-encoded string, for a message only. */
const textOf = (answer: Hex | null): string =>
  answer === null ? "?" : hexToString(`0x${answer.slice(130)}`).replaceAll("\0", "");

/** What an operator needs to correct the registry: what the contract calls itself. */
async function domainAdvice(rpc: Rpc, address: string): Promise<string> {
  const [name, version] = await rpc.batch([read(address, "name"), read(address, "version")]);
  return `the contract calls itself "${textOf(answerOf(name))}", version "${textOf(answerOf(version))}"`;
}

async function checkToken(rpc: Rpc, chainId: bigint, token: TokenEntry): Promise<string | null> {
  const { address, decimals, eip3009 } = token;
  const answers = await rpc.batch([
    codeAt(address),
    read(address, "decimals"),
    read(address, "DOMAIN_SEPARATOR"),
  ]);
  if (codeOf(answers[0]) === "0x") return "no contract at this address";
  const actual = answerOf(answers[1]);
  if (!isWord(actual)) return "the contract does not tell its decimals";
  if (BigInt(actual) !== BigInt(decimals))
    return `the contract has ${BigInt(actual)} decimals, the registry says ${decimals}`;
  if (eip3009 === null) return null;
  if (answerOf(answers[2]) === separatorOf(chainId, address, eip3009.name, eip3009.version))
    return null;
  return `its EIP-712 domain is not "${eip3009.name}", version "${eip3009.version}", so no signature would verify: ${await domainAdvice(rpc, address)}`;
}

async function checkPermit2(rpc: Rpc, config: ChainConfig): Promise<string | null> {
  const { permit2, permit2CodeHash } = config.entry;
  if (permit2 === null) return null;
  if (permit2.toLowerCase() !== PERMIT2_ADDRESS)
    return "Permit2 is used at its canonical address only";
  const [answer] = await rpc.batch([codeAt(PERMIT2_ADDRESS)]);
  const code = codeOf(answer);
  if (code === "0x") return "Permit2 is not at its canonical address";
  return permit2CodeHash === null || keccak256(code) === permit2CodeHash.toLowerCase()
    ? null
    : "Permit2's code is not the one the registry names";
}

/** Compares a configured chain with what is really there. Throws `ChainUnavailable` when no node answers. */
export async function checkChain(
  rpc: Rpc,
  config: ChainConfig,
  signers: string[],
): Promise<BootCheck> {
  const chainId = BigInt(config.entry.caip2.slice("eip155:".length));
  const permit2 = await checkPermit2(rpc, config);
  const codes = await rpc.batch(signers.map(codeAt));
  const fatal = [
    ...(permit2 === null ? [] : [permit2]),
    ...signers
      .filter((_, index) => codeOf(codes[index]) !== "0x")
      .map((signer) => `${signer} has code: our keys must belong to plain accounts`),
  ];
  const refused = [];
  for (const token of config.entry.tokens) {
    const reason = await checkToken(rpc, chainId, token);
    if (reason !== null) refused.push({ symbol: token.symbol, address: token.address, reason });
  }
  return { fatal, refused };
}
