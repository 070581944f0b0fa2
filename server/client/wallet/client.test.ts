import { expect, test } from "vitest";
import { openPayment } from "./client.ts";
import { dataNeed } from "./collect-data.ts";
import { type Scripted, scriptedGateway, virtualTime } from "./test-support.ts";

const ACCOUNT = "eip155:31337:0x00000000000000000000000000000000000000Aa";
const DISPLAY = { assetName: "USD Coin", assetSymbol: "USDC", decimals: 6 };
const AMOUNT = { unit: "caip19/eip155:31337/erc20:0x01", value: "1250000", display: DISPLAY };
const call = (method: string, params: unknown = []) => ({
  type: "walletRpc",
  data: { chain_id: "eip155:31337", method, params },
});
const build = (data: string) => ({ type: "build", data: { data } });
const answer = (body: unknown): Scripted => ({ status: 200, body });

function open(script: Record<string, Scripted[]>) {
  const time = virtualTime();
  const gateway = scriptedGateway(time, script);
  const client = openPayment(
    {
      baseUrl: "https://api.example.com/prefix",
      credentials: { apiKey: "gk_test_1" },
      fetch: gateway.fetch,
      timers: time,
      random: () => 0,
    },
    "pay_1",
  );
  return { client, ...gateway };
}

const withActions = (actions: unknown) => ({
  id: "opt_1",
  account: ACCOUNT,
  amount: AMOUNT,
  etaS: 5,
  expiresAt: null,
  actions,
  collectData: null,
});

// Guarantee: answers with members of a later version, or without optional ones, are still read.
test("options are read whatever else the answer holds", async () => {
  const { client, calls } = open({
    "POST options": [
      answer({
        options: [{ ...withActions([call("personal_sign")]), novelty: { a: 1 } }],
        info: {
          status: "requires_action",
          amount: { unit: "iso4217/USD", value: "125", display: { ...DISPLAY, decimals: 2 } },
          expiresAt: 1_790_000_900,
          merchant: { name: "Demo Shop" },
        },
      }),
    ],
  });
  const options = await client.getOptions([ACCOUNT], { includePaymentInfo: true });
  expect(options).toEqual({
    options: [
      {
        id: "opt_1",
        account: ACCOUNT,
        amount: {
          ...AMOUNT,
          display: { ...DISPLAY, iconUrl: null, networkIconUrl: null, networkName: null },
        },
        etaS: 5,
        expiresAt: null,
        actions: [
          { type: "walletRpc", chainId: "eip155:31337", method: "personal_sign", params: [] },
        ],
        collectData: null,
      },
    ],
    info: {
      status: "requires_action",
      amount: {
        unit: "iso4217/USD",
        value: "125",
        display: {
          ...DISPLAY,
          decimals: 2,
          iconUrl: null,
          networkIconUrl: null,
          networkName: null,
        },
      },
      expiresAt: 1_790_000_900,
      merchant: { name: "Demo Shop", iconUrl: null },
      buyer: null,
    },
    collectData: null,
  });
  expect(calls[0]).toMatchObject({
    path: "/prefix/v1/gateway/payment/pay_1/options",
    query: "?includePaymentInfo=true",
    body: { accounts: [ACCOUNT] },
  });
});

// Guarantee: services that send null for "no options" are understood.
test("null options are none", async () => {
  const { client } = open({ "POST options": [answer({ options: null, info: null })] });
  expect((await client.getOptions([ACCOUNT])).options).toEqual([]);
});

// Guarantee: parameters mean the same as an array and as the JSON text of one.
test("params are read from both spellings, and from nothing else", async () => {
  const typedData = JSON.stringify({ primaryType: "T", message: { value: "0x1" } });
  const array = ["0xAa", typedData];
  const { client } = open({
    "POST options": [
      answer({
        options: [
          withActions([
            call("eth_signTypedData_v4", array),
            call("eth_signTypedData_v4", JSON.stringify(array)),
          ]),
        ],
      }),
      answer({ options: [withActions([call("personal_sign", "{}")])] }),
      answer({ options: [withActions([call("personal_sign", "[")])] }),
      answer({ options: [withActions([call("personal_sign", { 0: "a" })])] }),
    ],
  });
  const { options } = await client.getOptions([ACCOUNT]);
  const read = options[0]?.actions.map((action) => action.type === "walletRpc" && action.params);
  expect(read).toEqual([array, array]);
  for (let bad = 0; bad < 3; bad += 1)
    await expect(client.getOptions([ACCOUNT])).rejects.toMatchObject({ kind: "unreadable" });
});

// Guarantee: results can be matched to actions, because what fetch resolves stands where its build stood.
test("builds are resolved in place, all of their calls in order", async () => {
  const { client, calls } = open({
    "POST fetch": [
      answer({ actions: [call("b1"), call("b2")] }),
      answer({ actions: [build("deeper"), call("d2")] }),
      answer({ actions: [call("d1")] }),
    ],
  });
  const actions = await client.fetchActions({
    id: "opt_1",
    actions: [
      { type: "walletRpc", chainId: "eip155:31337", method: "a", params: [] },
      { type: "build", data: "one" },
      { type: "walletRpc", chainId: "eip155:31337", method: "c", params: [] },
      { type: "build", data: "two" },
    ],
  });
  expect(actions.map(({ method }) => method)).toEqual(["a", "b1", "b2", "c", "d1", "d2"]);
  expect(calls.map(({ body }) => body)).toEqual([
    { optionId: "opt_1", data: "one" },
    { optionId: "opt_1", data: "two" },
    { optionId: "opt_1", data: "deeper" },
  ]);
});

// Guarantee: an option that shows no actions is asked for them, not taken for free of any.
test("an empty list is fetched with empty data", async () => {
  const { client, calls } = open({
    "POST fetch": [answer({ actions: [call("eth_sendTransaction")] })],
  });
  const actions = await client.fetchActions({ id: "opt_1", actions: [] });
  expect(actions.map(({ method }) => method)).toEqual(["eth_sendTransaction"]);
  expect(calls.map(({ body }) => body)).toEqual([{ optionId: "opt_1", data: "" }]);
});

// Guarantee: inline calls need no further request.
test("an option without builds is not fetched", async () => {
  const { client, calls } = open({});
  const action = { type: "walletRpc" as const, chainId: "solana:x", method: "m", params: [1] };
  expect(await client.fetchActions({ id: "o", actions: [action] })).toEqual([action]);
  expect(calls).toEqual([]);
});

// Guarantee: a service that answers builds with builds for ever is given up.
test("fetch rounds are bounded", async () => {
  const { client, calls } = open({ "POST fetch": [answer({ actions: [build("again")] })] });
  await expect(client.fetchActions({ id: "opt_1", actions: [] })).rejects.toMatchObject({
    kind: "unreadable",
  });
  expect(calls).toHaveLength(3);
});

// Guarantee: the i-th output arrives as the i-th result, objects as objects.
test("confirm sends one result per action", async () => {
  const { client, calls } = open({
    "POST confirm": [answer({ status: "processing", isFinal: false, pollInMs: 1000 })],
  });
  const standing = await client.confirm({ id: "opt_1" }, ["0xab", { signed: true }], {
    maxPollMs: 20_000,
    collectedData: { fields: [{ id: "fullName", value: "A B" }] },
  });
  expect(standing).toEqual({
    status: "processing",
    isFinal: false,
    pollInMs: 1000,
    failureCode: null,
    info: null,
  });
  expect(calls[0]).toMatchObject({
    query: "?maxPollMs=20000",
    body: {
      optionId: "opt_1",
      results: [
        { type: "walletRpc", data: ["0xab"] },
        { type: "walletRpc", data: [{ signed: true }] },
      ],
      collectedData: { fields: [{ id: "fullName", value: "A B" }] },
    },
  });
});

// Guarantee: reads and cancel use the paths existing wallets use.
test("status, payment and cancel", async () => {
  const details = { status: "requires_action", amount: AMOUNT, expiresAt: 5, merchant: null };
  const { client, calls } = open({
    "GET status": [answer({ status: "expired", isFinal: true })],
    "GET pay_1": [answer(details)],
    "POST cancel": [answer({ paymentId: "pay_1", status: "cancelled" })],
  });
  expect((await client.getStatus()).isFinal).toBe(true);
  expect((await client.getPayment()).expiresAt).toBe(5);
  expect(await client.cancel()).toEqual({ status: "cancelled" });
  expect(calls.map(({ method, path, query }) => `${method} ${path}${query}`)).toEqual([
    "GET /prefix/v1/gateway/payment/pay_1/status",
    "GET /prefix/v1/gateway/payment/pay_1",
    "POST /prefix/v1/gateway/payment/pay_1/cancel",
  ]);
});

// Guarantee: a text that is no id never becomes part of a request path.
test.for(["", "pay_", "../x", "pay_a/b", "pay_a?x", `pay_${"A".repeat(61)}`])(
  "%j cannot be opened",
  (id) => {
    const settings = { baseUrl: "https://api.example.com", credentials: { apiKey: "k" } };
    expect(() => openPayment(settings, id)).toThrow(TypeError);
  },
);

// Guarantee: nobody fills in a form that was not asked of them, and nobody misses one that was.
test("data is collected per option", () => {
  const all = { url: "https://pay.example.com/collect?all", schema: {} };
  const own = { url: "https://pay.example.com/collect?own", schema: { type: "object" } };
  expect(dataNeed(all, { collectData: own })).toEqual({ kind: "needed", ...own });
  expect(dataNeed(all, { collectData: null })).toEqual({ kind: "skip" });
  expect(dataNeed(null, { collectData: null })).toEqual({ kind: "none" });
});
