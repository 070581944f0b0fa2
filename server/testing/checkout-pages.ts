import { createWalletClient, encodeFunctionData, type Hex, parseAbi } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { CheckoutOption, CheckoutView } from "#server/contract/checkout.ts";
import type { BuyerStage } from "#server/domain/checkout/stage.ts";
import { fundGas, mint } from "#server/sandbox/deploy.ts";
import { nodeTransport, rpc } from "#server/sandbox/node-rpc.ts";
import { type ApiClient, createApiClient, refusalOf } from "#server/trpc/client.ts";
import { type Action, actors, until } from "./api.ts";
import type { TestWorld } from "./world.ts";

export const CHAIN = "eip155:31337";
const TRANSFER = parseAbi(["function transfer(address to, uint256 value)"]);

/** A buyer with an account nobody else has. */
export type PageBuyer = { key: Hex; address: Hex; account: string };

/** What a refused call said; fails when it was not refused. */
export async function refusal(call: Promise<unknown>) {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  const refused = refusalOf(error);
  if (refused === null) throw new Error(`not refused: ${String(error)}`);
  return refused;
}

/** What buyers' pages do in one world, through the client that browsers use. */
export function checkoutPages(world: TestWorld, baseUrl: () => string) {
  const api = () => actors(world, baseUrl);
  const client = (): ApiClient => createApiClient(baseUrl());
  const chain = () => {
    const found = world.world.chains[0];
    if (found === undefined) throw new Error("no chain");
    return { url: found.anvil.rpcUrl, ...found.deployment };
  };
  return {
    api,
    client,
    chain,
    async created(options: Parameters<ReturnType<typeof api>["create"]>[0] = {}): Promise<string> {
      const answer = await api().create(options);
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body.paymentId;
    },
    async buyer(usdc: bigint): Promise<PageBuyer> {
      const key = generatePrivateKey();
      const { address } = privateKeyToAccount(key);
      await fundGas(chain().url, address);
      if (usdc > 0n) await mint(chain().url, chain(), "usdc", address, usdc);
      return { key, address, account: `${CHAIN}:${address}` };
    },
    view: (id: string): Promise<CheckoutView> => client().checkout.view.query({ id }),
    /** What some accounts are offered, asked for until it is `count` options: a chain too busy to answer offers nothing. */
    async options(id: string, accounts: string[], count: number): Promise<CheckoutOption[]> {
      const ask = () => client().checkout.options.query({ id, accounts });
      return (await until(ask, ({ options }) => options.length >= count)).options;
    },
    /** What an account is offered in one token. */
    async option(id: string, { account }: PageBuyer, symbol: string): Promise<CheckoutOption> {
      const offered = await until(
        () => client().checkout.options.query({ id, accounts: [account] }),
        ({ options }) => options.some(({ money }) => money.symbol === symbol),
      );
      const found = offered.options.find(({ money }) => money.symbol === symbol);
      if (found === undefined) throw new Error(`no ${symbol} option`);
      return found;
    },
    /** Everything a page does from options to confirm. */
    async pay(id: string, buyer: PageBuyer, symbol: string): Promise<CheckoutView> {
      const { id: optionId } = await this.option(id, buyer, symbol);
      const { actions } = await client().checkout.fetch.mutate({ id, optionId });
      const results = [];
      for (const action of actions) {
        const output = await api().execute(action as Action, buyer.key);
        results.push({ type: "walletRpc" as const, data: [output] });
      }
      return client().checkout.confirm.mutate({ id, optionId, results });
    },
    /** A plain transfer from the buyer's wallet, past every option. */
    async send(buyer: PageBuyer, token: Hex, to: string, value: bigint): Promise<Hex> {
      const wallet = createWalletClient({
        account: privateKeyToAccount(buyer.key),
        transport: nodeTransport(chain().url),
      });
      const data = encodeFunctionData({
        abi: TRANSFER,
        functionName: "transfer",
        args: [to as Hex, value],
      });
      return wallet.sendTransaction({ to: token, data, gas: 100_000n, chain: null });
    },
    stage: (id: string, stage: BuyerStage, withinMs?: number): Promise<CheckoutView> =>
      until(
        () => client().checkout.view.query({ id }),
        (view) => view.stage === stage,
        withinMs,
      ),
    node: <T>(method: string, params: unknown[] = []) => rpc<T>(chain().url, method, params),
  };
}
