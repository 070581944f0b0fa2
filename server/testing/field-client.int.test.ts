import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { actors, until } from "./api.ts";
import { type FieldAction, type FieldOption, fieldClient } from "./field-client.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

const CHAIN = "eip155:31337";
let world: TestWorld;
let server: TestServer;
beforeAll(async () => {
  world = await createTestWorld({ native: true });
  server = await world.startServer();
});
afterAll(async () => world?.stop());

const shop = () => actors(world, () => server.baseUrl);
/** As deployed wallets are configured: an app's id alone, and a base URL that ends in a slash. */
const client = () =>
  fieldClient({
    appId: world.demo.gateway.appId,
    clientId: "0d6f2a0e-53d4-4b64-9c5c-7a3f0c1de111",
    baseUrl: `${server.baseUrl}/`,
  });
const buyer = () => {
  const { key } = world.buyer("everything");
  return { key, account: privateKeyToAccount(key) };
};

async function newPayment(): Promise<{ id: string; link: string }> {
  const made = await shop().create();
  expect(made.status).toBe(201);
  return { id: made.body.paymentId, link: made.body.gatewayUrl };
}

/** What a wallet does with an action: it parses the JSON text it is handed. */
const execute = (action: FieldAction, key: `0x${string}`) =>
  shop().execute(
    {
      type: "walletRpc",
      data: {
        chain_id: action.chainId,
        method: action.method,
        params: JSON.parse(action.params),
      },
    },
    key,
  );

const pick = (options: FieldOption[], symbol: string): FieldOption => {
  const found = options.find(({ amount }) => amount.display.assetSymbol === symbol);
  if (found === undefined) throw new Error(`no ${symbol} option`);
  return found;
};

async function pay(symbol: string, options: { bareId?: boolean; forget?: boolean } = {}) {
  const { id, link } = await newPayment();
  const named = options.bareId === true ? id : link;
  const wallet = client();
  const { key, account } = buyer();
  const option = pick(await wallet.options(named, [`${CHAIN}:${account.address}`]), symbol);
  const actions = await wallet.requiredActions(named, option.id, options.forget);
  const outputs: string[] = [];
  for (const action of actions) outputs.push(await execute(action, key));
  const standing = await wallet.confirm(named, option.id, outputs);
  return { id, actions, standing };
}

// Guarantee: a wallet that calls as the deployed kit does pays by every mechanism, whatever it calls the payment.
test.for([
  ["USDC", { bareId: true }],
  ["USDC", {}],
  ["USDT", { forget: true }],
  ["USDT", {}],
  ["ETH", {}],
  ["ETH", { forget: true }],
] as const)("%s, with %o", async ([symbol, options]) => {
  const { id, standing } = await pay(symbol, options);
  expect(standing).toMatchObject({ status: "succeeded", pollInMs: null });
  expect(standing.info?.txId).toMatch(/^0x[0-9a-f]{64}$/);
  const [captures] = await world.db.query<{ n: string }>(
    "select count(*) as n from capture where payment_id = $1",
    [id],
  );
  expect(captures?.n).toBe("1");
});

// Guarantee: where the merchant asks for it, the same wallet first signs that the account is its own.
test.for(["USDC", "ETH"])("%s with a proof of ownership", async (symbol) => {
  const merchant = world.demo.merchants.find(({ flow }) => flow === "intermediary");
  const ask = (is: boolean) =>
    world.db.query("update merchant set prove_ownership = $2 where id = $1", [merchant?.id, is]);
  await ask(true);
  try {
    // The change reaches the server by a notification.
    await until(
      async () => {
        const made = await shop().create();
        return world.db.query<{ prove_ownership: boolean }>(
          "select prove_ownership from payment where id = $1",
          [made.body.paymentId],
        );
      },
      ([row]) => row?.prove_ownership === true,
    );
    const { actions, standing } = await pay(symbol);
    expect(actions.map(({ method }) => method)).toEqual([
      "personal_sign",
      symbol === "ETH" ? "eth_sendTransaction" : "eth_signTypedData_v4",
    ]);
    expect(standing.status).toBe("succeeded");
  } finally {
    await ask(false);
  }
});

// Guarantee: actions fetched by a wallet that knows nothing of the options are the ones the option carries.
test("empty actions are fetched", async () => {
  const { link } = await newPayment();
  const wallet = client();
  const { account } = buyer();
  const option = pick(await wallet.options(link, [`${CHAIN}:${account.address}`]), "USDC");
  const known = await wallet.requiredActions(link, option.id);
  expect(await wallet.requiredActions(link, option.id, true)).toEqual(known);
  expect(JSON.parse(JSON.parse(known[0]?.params ?? "")[1]).primaryType).toBe(
    "TransferWithAuthorization",
  );
});

// Guarantee: a link on somebody else's host is no payment of ours, however it is encoded.
test("a foreign link", async () => {
  const { id } = await newPayment();
  const wallet = client();
  await expect(
    wallet.options(`https://pay.example.org/?pid=${id}`, [`${CHAIN}:${buyer().account.address}`]),
  ).rejects.toThrow(/404: payment_not_found/);
});
