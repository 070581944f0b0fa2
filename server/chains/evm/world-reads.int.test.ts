import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Hex, keccak256 } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tokenView } from "#server/http/views.ts";
import type { Registry } from "#server/platform/registry.ts";
import { asOwner, type FeedName } from "#server/sandbox/deploy.ts";
import { worldRegistry } from "#server/sandbox/world-registry.ts";
import { startTestChain, type TestChain } from "#server/testing/chain.ts";
import { createChains } from "../index.ts";
import { findAllowanceSlot } from "./allowance-slot.ts";
import { checkChain } from "./boot-check.ts";
import { PERMIT2_ADDRESS } from "./permit2.ts";
import { createPriceSource } from "./price-feeds.ts";
import { createRpc } from "./rpc.ts";
import { createScreening } from "./sanctions.ts";

const CHAIN = "eip155:91021";
const OWNER = "0x1111111111111111111111111111111111111111";
const SPENDER = "0x2222222222222222222222222222222222222222";

let world: TestChain;
let registry: Registry;

beforeAll(async () => {
  world = await startTestChain(91_021);
  registry = worldRegistry([{ deployment: world.deployment, name: "Test" }]);
});
afterAll(() => world?.stop());

const setAnswer = (feed: FeedName, answer: bigint, updatedAt: bigint) =>
  asOwner(
    world.rpcUrl,
    world.deployment,
    world.deployment.feeds[feed],
    "function setAnswer(int256 answer, uint256 updatedAt)",
    [answer, updatedAt],
  );

const now = async () => (await world.chain.head()).latest.time;

/** A new source each time, so that no answer is remembered from the step before. */
const prices = (of = registry) => createPriceSource(of, new Map([[CHAIN, world.rpc]]), world.log);
const usdcPrice = () => prices().token(`${CHAIN}/erc20:${world.deployment.usdc.toLowerCase()}`);

// Guarantee: a price is the feed's answer with where it came from, or nothing at all: stale, zero and negative answers are no price.
test("feeds", async () => {
  await setAnswer("USDC / USD", 99_950_000n, 0n);
  const price = await usdcPrice();
  expect(price?.usdE8).toBe(99_950_000n);
  expect(price?.source).toBe(`${world.deployment.feeds["USDC / USD"]}#2`);
  expect(price?.updatedAt).toBe(Number(await now()));
  await setAnswer("USDC / USD", 99_950_000n, (await now()) - 3_500n);
  expect((await usdcPrice())?.usdE8).toBe(99_950_000n);
  await setAnswer("USDC / USD", 99_950_000n, (await now()) - 3_700n);
  expect(await usdcPrice()).toBeNull();
  for (const answer of [0n, -5n]) {
    await setAnswer("USDC / USD", answer, 0n);
    expect(await usdcPrice()).toBeNull();
  }
  await setAnswer("USDC / USD", 100_000_000n, 0n);
});

// Guarantee: currencies come from their feed or fixed rate; one without a source, or on a chain we do not have, is none.
test("currencies", async () => {
  const source = prices({
    ...registry,
    currencies: {
      ...registry.currencies,
      CHF: { usdPerUnitE8: "112000000" },
      SEK: { chain: "eip155:5", feed: { address: OWNER, heartbeatS: 60 } },
      NOK: { chain: CHAIN, feed: { address: OWNER, heartbeatS: 60 } },
      DKK: { chain: CHAIN, feed: { address: world.deployment.usdc, heartbeatS: 60 } },
    },
  });
  expect(await source.fiat("USD")).toMatchObject({ usdE8: 100_000_000n });
  expect((await source.fiat("EUR"))?.usdE8).toBe(108_000_000n);
  expect(await source.fiat("CHF")).toMatchObject({ usdE8: 112_000_000n, source: "fixed" });
  for (const code of ["SEK", "NOK", "DKK", "XXX", "constructor"])
    expect(await source.fiat(code)).toBeNull();
  expect(["USD", "EUR", "CHF", "NOK"].every((code) => source.hasFiat(code))).toBe(true);
  expect(["SEK", "XXX", "constructor", "toString"].some((code) => source.hasFiat(code))).toBe(
    false,
  );
});

// Guarantee: a listed account is listed, and an oracle that cannot answer clears nobody.
test("sanctions", async () => {
  const rpcs = new Map([[CHAIN, world.rpc]]);
  const listed = "function setListed(address account, bool listed)";
  await asOwner(world.rpcUrl, world.deployment, world.deployment.sanctions, listed, [OWNER, true]);
  const screening = createScreening(registry, rpcs, world.log);
  expect(await screening.screen(CHAIN, OWNER)).toBe("listed");
  expect(await screening.screen(CHAIN, SPENDER)).toBe("clear");
  expect(await screening.screen("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "x")).toBe("clear");
  const gone = (sanctionsOracle: Hex): Registry => ({
    ...registry,
    chains: registry.chains.map((chain) => ({ ...chain, sanctionsOracle })),
  });
  const nobody = createScreening(gone(SPENDER), rpcs, world.log);
  expect(await nobody.screen(CHAIN, OWNER)).toBe("unavailable");
  const dead = new Map([[CHAIN, createRpc(["http://127.0.0.1:9"], 91_021)]]);
  const silent = createScreening(registry, dead, world.log);
  expect(await silent.screen(CHAIN, SPENDER)).toBe("unavailable");
});

const signers = () => [world.relayer, world.spender, world.intermediary].map((a) => a.address);

// Guarantee: a world as it is described has no problems.
test("boot check of a sound chain", async () => {
  expect(await checkChain(world.rpc, world.config, signers())).toEqual({
    fatal: [],
    refused: [],
    unpriced: [],
  });
});

// Guarantee: each token that is not what the registry says is named with what is wrong, and the others stay.
test("boot check of tokens", async () => {
  const { entry } = world.config;
  const [usd, tether] = entry.tokens;
  if (usd === undefined || tether === undefined) throw new Error("no tokens");
  const domain = { name: "USDC", version: "2", signatures: "bytes" as const };
  const config = {
    ...world.config,
    entry: {
      ...entry,
      tokens: [
        { ...usd, symbol: "DOMAIN", eip3009: domain },
        { ...usd, symbol: "DECIMALS", decimals: 18 },
        { ...usd, symbol: "NOTHING", address: OWNER },
        { ...usd, symbol: "NO TOKEN", address: world.deployment.sanctions },
        { ...tether, symbol: "NO DOMAIN", eip3009: domain },
        tether,
      ],
    },
  };
  const { fatal, refused } = await checkChain(world.rpc, config, signers());
  expect(fatal).toEqual([]);
  const reasons = Object.fromEntries(refused.map(({ symbol, reason }) => [symbol, reason]));
  expect(Object.keys(reasons)).toEqual(["DOMAIN", "DECIMALS", "NOTHING", "NO TOKEN", "NO DOMAIN"]);
  expect(reasons.DOMAIN).toMatch(
    /EIP-712 domain is not "USDC".*calls itself "USD Coin", version "2"/,
  );
  expect(reasons.DECIMALS).toMatch(/6 decimals, the registry says 18/);
  expect(reasons.NOTHING).toMatch(/no contract/);
  expect(reasons["NO TOKEN"]).toMatch(/decimals/);
  expect(reasons["NO DOMAIN"]).toMatch(/EIP-712 domain/);
});

// Guarantee: a feed that is none takes its token or coin out with its name; one that is stale, or prices something elsewhere, is told.
test("boot check of feeds", async () => {
  const { entry } = world.config;
  const [usd, tether] = entry.tokens;
  if (usd === undefined || tether === undefined) throw new Error("no tokens");
  const { feeds, usdc, sanctions } = world.deployment;
  const feedAt = (address: string) => ({ address, heartbeatS: 3_600 });
  const config = (address: string) => ({
    entry: {
      ...entry,
      native: { ...entry.native, feed: feedAt(usdc) },
      tokens: [
        { ...usd, feed: feedAt(address) },
        { ...tether, feed: feedAt(sanctions) },
      ],
    },
  });
  const nowhere = await checkChain(world.rpc, config(OWNER), signers(), [
    { name: "EUR", feed: feedAt(sanctions) },
    { name: "GBP", feed: feedAt(feeds["GBP / USD"]) },
  ]);
  expect(nowhere.fatal).toEqual([]);
  expect(nowhere.refused.map(({ symbol, reason }) => `${symbol}: ${reason}`)).toEqual([
    `USDC: no contract at its price feed's address ${OWNER}`,
    `USDT: ${sanctions} does not answer as a price feed does`,
    `ETH: ${usdc} does not answer as a price feed does`,
  ]);
  expect(nowhere.unpriced).toEqual([
    { name: "EUR", reason: `${sanctions} does not answer as a price feed does` },
  ]);
  // Answers everything with the number 200, decimals too.
  await world.node("anvil_setCode", [SPENDER, "0x60c860005260a06000f3"]);
  const odd = await checkChain(world.rpc, config(SPENDER), signers());
  await world.node("anvil_setCode", [SPENDER, "0x"]);
  expect(odd.refused[0]?.reason).toBe(`${SPENDER} does not answer as a price feed does`);
  await setAnswer("USDC / USD", 100_000_000n, (await now()) - 3_700n);
  const stale = await checkChain(world.rpc, world.config, signers());
  await setAnswer("USDC / USD", -1n, 0n);
  const negative = await checkChain(world.rpc, world.config, signers());
  await setAnswer("USDC / USD", 100_000_000n, 0n);
  expect([stale.refused, negative.refused]).toEqual([[], []]);
  expect(stale.unpriced).toEqual([
    { name: "USDC on Test", reason: expect.stringMatching(/older than its heartbeat of 3600/) },
  ]);
  expect(negative.unpriced).toEqual([
    { name: "USDC on Test", reason: expect.stringMatching(/not positive/) },
  ]);
});

// Guarantee: an oracle that would let nobody pay is told at the start, and offers nothing meanwhile.
test("boot check of the sanctions oracle", async () => {
  const fatal = async (sanctionsOracle: string | null) =>
    (await checkChain(world.rpc, { entry: { ...world.config.entry, sanctionsOracle } }, signers()))
      .fatal;
  expect(await fatal(OWNER)).toEqual([`no contract at the sanctions oracle's address ${OWNER}`]);
  expect(await fatal(world.deployment.usdc)).toEqual([
    expect.stringMatching(/does not answer as a sanctions oracle does/),
  ]);
  expect(await fatal(null)).toEqual([]);
});

// Guarantee: a wrong Permit2, and a key of ours that became a contract, stop a chain's offers.
test("boot check of Permit2 and of our keys", async () => {
  const check = (change: object) =>
    checkChain(
      world.rpc,
      { ...world.config, entry: { ...world.config.entry, ...change } },
      signers(),
    );
  expect((await check({ permit2CodeHash: `0x${"11".repeat(32)}` })).fatal).toHaveLength(1);
  expect((await check({ permit2: OWNER })).fatal).toHaveLength(1);
  const code = await world.node<string>("eth_getCode", [PERMIT2_ADDRESS, "latest"]);
  expect((await check({ permit2CodeHash: keccak256(code as Hex) })).fatal).toEqual([]);
  const usdCode = await world.node("eth_getCode", [world.deployment.usdc, "latest"]);
  for (const [other, says] of [
    [usdCode, /signing domain is not that of Permit2/],
    // Answers everything with nothing, as a contract without this function may.
    ["0x00", /signing domain is not that of Permit2/],
    ["0x", /not at its canonical address/],
  ]) {
    await world.node("anvil_setCode", [PERMIT2_ADDRESS, other]);
    expect((await check({})).fatal).toEqual([expect.stringMatching(says as RegExp)]);
  }
  await world.node("anvil_setCode", [PERMIT2_ADDRESS, code]);
  expect((await check({})).fatal).toEqual([]);
  const delegated = `0xef0100${world.deployment.usdc.slice(2)}`;
  await world.node("anvil_setCode", [world.relayer.address, delegated]);
  expect((await check({})).fatal).toEqual([expect.stringMatching(/has code/)]);
  await world.node("anvil_setCode", [world.relayer.address, "0x"]);
  expect((await check({ permit2: null })).fatal).toEqual([]);
});

// Guarantee: a node of another chain is never used, at the start or as a second choice.
test("a node of another chain", async () => {
  const wrong = createRpc([world.rpcUrl], 91_022);
  await expect(wrong.read("eth_blockNumber", [])).rejects.toThrow(/chain 91021, not 91022/);
  const sent = await wrong.everywhere("eth_sendRawTransaction", ["0x00"]);
  expect(sent).toMatchObject([{ status: "rejected", reason: { message: /not 91022/ } }]);
});

// Guarantee: the allowance of a deployed token is found wherever compilers put it, and nowhere else.
test("allowance slots", async () => {
  const probe = async (token: string) => {
    const slot = await findAllowanceSlot(world.rpc, token);
    return slot?.(OWNER, SPENDER) ?? null;
  };
  const tokens = {
    tether: world.deployment.usdt,
    usd: world.deployment.usdc,
    vyper: await world.odd("VyperLikeToken").deploy(),
    namespaced: await world.odd("NamespacedToken").deploy(),
  };
  const found = new Set<string | null>();
  for (const token of Object.values(tokens)) {
    const slot = await probe(token);
    expect(slot).toMatch(/^0x[0-9a-f]{64}$/);
    found.add(slot);
    const value = `0x${"77".padStart(64, "0")}`;
    await world.node("anvil_setStorageAt", [token, slot, value]);
    const data = `0xdd62ed3e${OWNER.slice(2).padStart(64, "0")}${SPENDER.slice(2).padStart(64, "0")}`;
    expect(await world.node("eth_call", [{ to: token, data }, "latest"])).toBe(value);
  }
  expect(found.size).toBeGreaterThan(2);
  expect(await probe(await world.odd("HiddenToken").deploy())).toBeNull();
});

/** The node behind a door that can be shut. */
async function door() {
  const state = { open: false, url: "" };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    if (!state.open) {
      response.writeHead(503).end();
      return;
    }
    const headers = { "content-type": "application/json" };
    const answer = await fetch(world.rpcUrl, { method: "POST", headers, body });
    response.setHeader("content-type", "application/json").end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(state, { close: () => server.close() });
}

const chainsOf = (rpcUrls: string[], change: object = {}) =>
  createChains(
    {
      registry,
      chains: [{ ...world.config, rpcUrls, entry: { ...world.config.entry, ...change } }] as never,
      solana: [],
      FLORIN_INTERMEDIARY_KEY_EVM: world.intermediary.key,
    },
    world.log,
  );

// Guarantee: nothing is offered on a chain before it was compared; one that is silent at the start is offered once it answers. What was paid there is shown as what it is meanwhile.
test("a chain that is silent at the start", async () => {
  const way = await door();
  try {
    const made = chainsOf([way.url]);
    const chain = made.chains.get(CHAIN);
    expect(chain?.facts.tokens).toEqual([]);
    expect(await made.verify()).toEqual([expect.stringMatching(/until it answers/)]);
    expect(chain?.facts.tokens).toEqual([]);
    const services = { chains: made.chains, env: { baseUrl: "https://pay.example" } } as never;
    const asset = chain?.facts.registered[0]?.asset ?? "";
    expect(tokenView(services, asset, 12_500_000n)).toMatchObject({
      value: "12500000",
      display: { assetSymbol: "USDC", decimals: 6 },
    });
    way.open = true;
    await expect
      .poll(() => chain?.facts.tokens.map(({ symbol }) => symbol), { timeout: 15_000 })
      .toEqual(["USDC", "USDT", "ETH"]);
  } finally {
    way.close();
  }
});

// Guarantee: a price that is not there is named at the start, and takes out nothing but what it prices.
test("a chain with a wrong feed", async () => {
  const native = { ...world.config.entry.native, feed: { address: OWNER, heartbeatS: 60 } };
  const made = chainsOf([world.rpcUrl], { native });
  expect(await made.verify()).toEqual([
    `ETH on Test is not offered: no contract at its price feed's address ${OWNER}`,
  ]);
  expect(made.chains.get(CHAIN)?.facts.tokens.map(({ symbol }) => symbol)).toEqual([
    "USDC",
    "USDT",
  ]);
});

// Guarantee: a chain that must not be offered is still there for the money that is on its way.
test("a chain with a wrong Permit2", async () => {
  const made = chainsOf([world.rpcUrl], { permit2CodeHash: `0x${"11".repeat(32)}` });
  expect(await made.verify()).toEqual([expect.stringMatching(/nothing is offered.*Permit2/)]);
  const chain = made.chains.get(CHAIN);
  expect(chain?.facts.tokens).toEqual([]);
  expect((await chain?.head())?.latest.number).toBeGreaterThan(0n);
});
