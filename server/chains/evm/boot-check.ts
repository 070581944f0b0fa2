import { encodeFunctionData, type Hex, hashDomain, hexToString, keccak256 } from "viem";
import type { ChainConfig } from "#server/platform/env.ts";
import type { ChainEntry, FeedEntry, TokenEntry } from "#server/platform/registry.ts";
import { ChainUnavailable } from "#server/ports/chain.ts";
import { SANCTIONS_ABI, TOKEN_ABI } from "./abi.ts";
import { assetOf, isWord, nativeAssetOf } from "./context.ts";
import { CLOCK_CALL, feedCalls, type Reading, readRound } from "./feed.ts";
import { PERMIT2_ADDRESS, permit2Separator } from "./permit2.ts";
import { type Rpc, RpcRefusal } from "./rpc.ts";

/**
 * What a chain may be used for: `fatal` means no token of it is offered, `refused` are single ones left out, each with its reason;
 * `unpriced` has no price at the moment, by its name.
 */
export type BootCheck = {
  fatal: string[];
  refused: { symbol: string; asset: string; reason: string }[];
  unpriced: { name: string; reason: string }[];
};

/** A feed on this chain for something that is not on it. */
export type ForeignFeed = { name: string; feed: FeedEntry };

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

/** By the hash of its code where the registry names one, else by the domain under which it checks signatures. */
async function checkPermit2(
  rpc: Rpc,
  chainId: bigint,
  { permit2, permit2CodeHash }: ChainEntry,
): Promise<string | null> {
  if (permit2 === null) return null;
  if (permit2.toLowerCase() !== PERMIT2_ADDRESS)
    return "Permit2 is used at its canonical address only";
  const [answer, separator] = await rpc.batch([
    codeAt(PERMIT2_ADDRESS),
    read(PERMIT2_ADDRESS, "DOMAIN_SEPARATOR"),
  ]);
  const code = codeOf(answer);
  if (code === "0x") return "Permit2 is not at its canonical address";
  if (permit2CodeHash !== null)
    return keccak256(code) === permit2CodeHash.toLowerCase()
      ? null
      : "Permit2's code is not the one the registry names";
  return answerOf(separator) === permit2Separator(chainId)
    ? null
    : "the contract at Permit2's address is another: its signing domain is not that of Permit2 on this chain";
}

/** An oracle that is not there would let nobody pay, and say so only to them. */
async function checkOracle(rpc: Rpc, { sanctionsOracle }: ChainEntry): Promise<string | null> {
  if (sanctionsOracle === null) return null;
  const data = encodeFunctionData({ abi: SANCTIONS_ABI, args: [PERMIT2_ADDRESS] });
  const [code, answer] = await rpc.batch([
    codeAt(sanctionsOracle),
    { method: "eth_call", params: [{ to: sanctionsOracle, data }, "latest"] },
  ]);
  if (codeOf(code) === "0x")
    return `no contract at the sanctions oracle's address ${sanctionsOracle}`;
  return isWord(answerOf(answer))
    ? null
    : `${sanctionsOracle} does not answer as a sanctions oracle does`;
}

/** Reads every feed once, in one round trip. One that the node does not read costs only what it prices, as it does later on. */
async function readFeeds(rpc: Rpc, feeds: FeedEntry[]): Promise<Reading[]> {
  if (feeds.length === 0) return [];
  const [block, ...answers] = await rpc.batch([
    CLOCK_CALL,
    ...feeds.flatMap((feed) => [codeAt(feed.address), ...feedCalls(feed)]),
  ]);
  return feeds.map((feed, index): Reading => {
    const [code, round, digits] = answers.slice(index * 3, index * 3 + 3);
    if (codeOf(code) === "0x") {
      const reason = `no contract at its price feed's address ${feed.address}`;
      return { price: null, isFeed: false, reason };
    }
    const unread = [round, digits].find((one) => one instanceof RpcRefusal && !one.executed);
    if (unread instanceof RpcRefusal) {
      const reason = `a node did not read ${feed.address}: ${unread.message}`;
      return { price: null, isFeed: true, reason };
    }
    return readRound(feed, [round, digits, block]);
  });
}

type Priced = { symbol: string; asset: string; feed: FeedEntry };

/** What is priced by a feed of this chain, and may be offered on it. */
const pricedHere = (entry: ChainEntry): Priced[] => {
  const { caip2, native, tokens } = entry;
  return [
    ...tokens.map(({ symbol, address, feed }) => ({
      symbol,
      asset: assetOf(caip2, address),
      feed,
    })),
    ...(native.accepted ? [{ ...native, asset: nativeAssetOf(entry) }] : []),
  ].flatMap(({ symbol, asset, feed }) => (feed === null ? [] : [{ symbol, asset, feed }]));
};

/** What the feeds of a chain leave without a price: for now, or, where a contract is no feed, until the registry is mended. */
async function checkFeeds(
  rpc: Rpc,
  entry: ChainEntry,
  foreign: ForeignFeed[],
): Promise<Omit<BootCheck, "fatal">> {
  const here = pricedHere(entry);
  const readings = await readFeeds(
    rpc,
    [...here, ...foreign].map(({ feed }) => feed),
  );
  const refused: BootCheck["refused"] = [];
  const unpriced: BootCheck["unpriced"] = [];
  for (const [index, { isFeed, reason }] of readings.entries()) {
    if (reason === null) continue;
    const own = here[index];
    if (own === undefined)
      unpriced.push({ name: foreign[index - here.length]?.name ?? "", reason });
    else if (isFeed) unpriced.push({ name: `${own.symbol} on ${entry.name}`, reason });
    else refused.push({ symbol: own.symbol, asset: own.asset, reason });
  }
  return { refused, unpriced };
}

/**
 * Compares a configured chain with what is really there; `foreign` are feeds on it that price something elsewhere. Throws
 * `ChainUnavailable` when no node answers.
 */
export async function checkChain(
  rpc: Rpc,
  { entry }: Pick<ChainConfig, "entry">,
  signers: string[],
  foreign: ForeignFeed[] = [],
): Promise<BootCheck> {
  const chainId = BigInt(entry.caip2.slice("eip155:".length));
  const wrong = await Promise.all([checkPermit2(rpc, chainId, entry), checkOracle(rpc, entry)]);
  const codes = await rpc.batch(signers.map(codeAt));
  const fatal = [
    ...wrong.filter((reason) => reason !== null),
    ...signers
      .filter((_, index) => codeOf(codes[index]) !== "0x")
      .map((signer) => `${signer} has code: our keys must belong to plain accounts`),
  ];
  const refused: BootCheck["refused"] = [];
  for (const token of entry.tokens) {
    const reason = await checkToken(rpc, chainId, token);
    const asset = assetOf(entry.caip2, token.address);
    if (reason !== null) refused.push({ symbol: token.symbol, asset, reason });
  }
  const feeds = await checkFeeds(rpc, entry, foreign);
  return { fatal, refused: [...refused, ...feeds.refused], unpriced: feeds.unpriced };
}
