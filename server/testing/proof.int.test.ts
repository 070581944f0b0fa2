import { createWalletClient, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSandboxExecutors } from "#server/cli/pay-executors.ts";
import { openPayment } from "#server/client/wallet/client.ts";
import { type Progress, pay } from "#server/client/wallet/pay.ts";
import { compileContracts } from "#server/sandbox/compile.ts";
import { mint } from "#server/sandbox/deploy.ts";
import { minedOn, nodeTransport } from "#server/sandbox/node-rpc.ts";
import { type Action, type Answer, until } from "./api.ts";
import { type Buyer, CHAIN, nativeShop, type Option } from "./native/shop.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let server: TestServer;
const shop = () => nativeShop(world, () => server.baseUrl);
const code = ({ status, body }: Answer) => [status, body.code ?? body.status];
const deployment = () => {
  const [chain] = world.world.chains;
  if (chain === undefined) throw new Error("no chain");
  return chain.deployment;
};

beforeAll(async () => {
  world = await createTestWorld({ native: true });
  server = await world.startServer();
  const merchant = world.demo.merchants.find(({ flow }) => flow === "intermediary")?.id;
  await world.db.query(`update merchant set prove_ownership = true where id = $1`, [merchant]);
  // Every process hears of it in its own time.
  await until(
    async () => {
      const id = await shop().created();
      return world.db.query<{ yes: boolean }>(
        `select prove_ownership as yes from payment where id = $1`,
        [id],
      );
    },
    ([row]) => row?.yes === true,
  );
});
afterAll(() => world?.stop());

/** The USDC option of an account; the account gets the money first. */
async function usdcOption(id: string, address: Hex): Promise<Option> {
  await mint(shop().url(), deployment(), "usdc", address, 100_000_000n);
  return shop().usdcOption(id, { address });
}

/** The two actions of a signature option with proof. */
function twoActions(option: Option) {
  const [ask, sign] = option.actions as Action[];
  if (ask === undefined || sign === undefined) throw new Error("not two actions");
  expect([ask.data.method, sign.data.method]).toEqual(["personal_sign", "eth_signTypedData_v4"]);
  const [raw, account] = ask.data.params as [Hex, string];
  return { raw, account, sign };
}

const signMessage = ({ key }: { key: Hex }, raw: Hex) =>
  privateKeyToAccount(key).signMessage({ message: { raw } });

// Guarantee: where the merchant asks for it, nobody pays without having signed that the account is theirs, and for what.
test("a plain account proves its ownership", async () => {
  const [buyer, stranger] = [await shop().buyer(), await shop().buyer()];
  const id = await shop().created();
  const option = await usdcOption(id, buyer.address);
  const { raw, account, sign } = twoActions(option);
  expect(account).toBe(buyer.address.toLowerCase());
  const message = Buffer.from(raw.slice(2), "hex").toString("utf8");
  const parts = [id, "Demo Shop", "12.50 USD (12.500000 USDC)", account, CHAIN];
  for (const part of [...parts, "Nonce: ", "Valid until: 20"]) expect(message).toContain(part);
  const signature = await shop().api().execute(sign, buyer.key);
  const confirm = (...outputs: string[]) => shop().api().confirm(id, option.id, outputs);
  const wrong = await confirm(await signMessage(stranger, raw), signature);
  expect(code(wrong)).toEqual([422, "params_validation"]);
  expect((await shop().api().status(id)).body.status).toBe("requires_action");
  const proof = await signMessage(buyer, raw);
  expect((await confirm(proof, signature)).status).toBe(200);
  expect((await shop().final(id)).body.status).toBe("succeeded");
  const stored = await shop().rows(`select proof from attempt where payment_id = $1`, [id]);
  expect(stored).toEqual([{ proof }]);
});

// Guarantee: without the proof the results are not those of the actions, and the payment is over.
test("the proof left out", async () => {
  const buyer = await shop().buyer();
  const id = await shop().created();
  const option = await usdcOption(id, buyer.address);
  const signature = await shop().api().execute(twoActions(option).sign, buyer.key);
  expect(code(await shop().api().confirm(id, option.id, [signature]))).toEqual([200, "failed"]);
});

async function contractAccount(owner: Buyer): Promise<Hex> {
  const { SandboxWallet } = compileContracts();
  const account = privateKeyToAccount(owner.key);
  const hash = await createWalletClient({
    account,
    transport: nodeTransport(shop().url()),
  }).deployContract({
    abi: SandboxWallet.abi as never,
    bytecode: SandboxWallet.bytecode,
    args: [account.address] as never,
    chain: null,
  });
  return (await minedOn(shop().url(), hash)).contractAddress ?? "0x";
}

// Guarantee: an account with code answers for itself (ERC-1271): its owner's word counts, a stranger's does not.
test("a contract account proves its ownership", async () => {
  const [owner, stranger] = [await shop().buyer(), await shop().buyer()];
  const account = await contractAccount(owner);
  const id = await shop().created();
  const option = await usdcOption(id, account);
  const { raw, sign } = twoActions(option);
  const signature = await shop().api().execute(sign, owner.key);
  const confirm = (...outputs: string[]) => shop().api().confirm(id, option.id, outputs);
  const wrong = await confirm(await signMessage(stranger, raw), signature);
  expect(code(wrong)).toEqual([422, "params_validation"]);
  expect((await confirm(await signMessage(owner, raw), signature)).status).toBe(200);
  expect((await shop().final(id)).body.status).toBe("succeeded");
});

// Guarantee: a push brings the proof first and the hash second; the proof of another payment is none.
test("native coin with a proof", async () => {
  const buyer = await shop().buyer();
  const [id, other] = [await shop().created(), await shop().created()];
  const fetched = async (payment: string) => {
    const option = await shop().option(payment, buyer);
    expect(option.actions.map(({ type }) => type)).toEqual(["build"]);
    const { actions } = (await shop().fetch(payment, option.id)).body;
    expect(actions.map((one: Action) => one.data.method)).toEqual([
      "personal_sign",
      "eth_sendTransaction",
    ]);
    return { option, raw: actions[0].data.params[0], transfer: actions[1].data.params[0] };
  };
  const [mine, strange] = [await fetched(id), await fetched(other)];
  await shop().node("evm_setIntervalMining", [0]);
  let hash: Hex;
  const proof = await signMessage(buyer, mine.raw);
  try {
    hash = await shop().send(buyer, mine.transfer);
    const confirm = (first: string) => shop().api().confirm(id, mine.option.id, [first, hash]);
    expect(code(await confirm(await signMessage(buyer, strange.raw)))).toEqual([
      422,
      "params_validation",
    ]);
    // The money is on its way, whatever the proof is worth.
    expect(code(await shop().cancel(id))).toEqual([400, "invalid_state"]);
    expect(code(await shop().api().confirm(id, mine.option.id, [hash]))).toEqual([
      200,
      "requires_action",
    ]);
    expect(code(await confirm(proof))).toEqual([200, "requires_action"]);
  } finally {
    await shop().node("evm_setIntervalMining", [1]);
  }
  expect((await shop().final(id)).body).toMatchObject({ status: "succeeded" });
  const stored = await shop().rows(`select proof from push_tx where hash = $1`, [hash]);
  expect(stored).toEqual([{ proof }]);
});

// Guarantee: the wallet client of this repository pays both kinds by itself, proof and all.
test.for(["ETH", "USDC"])("the wallet client pays with %s and a proof", async (symbol) => {
  const buyer = { key: generatePrivateKey() };
  const { address } = privateKeyToAccount(buyer.key);
  await shop().node("anvil_setBalance", [address, "0x56bc75e2d63100000"]);
  await mint(shop().url(), deployment(), "usdc", address, 100_000_000n);
  const id = await shop().created();
  const sandbox = {
    baseUrl: server.baseUrl,
    checkoutUrl: server.baseUrl,
    merchant: { id: "", apiKey: "", flow: "intermediary" as const },
    merchants: [],
    gateway: { apiKey: "" },
    chains: [{ caip2: CHAIN, rpcUrl: shop().url(), tokens: [] }],
    accounts: [{ caip10: `${CHAIN}:${address}`, privateKey: buyer.key, holds: "" }],
  };
  const { gateway } = world.demo;
  const client = openPayment(
    { baseUrl: server.baseUrl, credentials: { apiKey: gateway.apiKey } },
    id,
  );
  const done: string[] = [];
  const outcome = await pay({
    client,
    accounts: [`${CHAIN}:${address}`],
    executors: createSandboxExecutors(sandbox),
    chooseOption: (options) =>
      options.find(({ amount }) => amount.display.assetSymbol === symbol) ?? null,
    onProgress: (progress: Progress) => {
      if (progress.kind === "action_done") done.push(progress.action.method);
    },
  });
  expect(outcome.kind).toBe("succeeded");
  expect(done[0]).toBe("personal_sign");
  expect(done).toHaveLength(2);
});
