import { createWalletClient, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { fundGas } from "#server/sandbox/deploy.ts";
import { nodeTransport, rpc } from "#server/sandbox/node-rpc.ts";
import { nativeAsset } from "#server/sandbox/world-registry.ts";
import { type Action, type Answer, actors, call, until } from "../api.ts";
import type { TestWorld } from "../world.ts";

export const CHAIN = "eip155:31337";
export const NATIVE = nativeAsset(CHAIN);

/** A buyer with 1000 ETH of their own. */
export type Buyer = { key: Hex; address: Hex };
/** The transfer that fetch hands out. */
export type Transfer = { from: Hex; to: Hex; data: Hex; value: Hex };
export type Option = {
  id: string;
  expiresAt: number;
  amount: { unit: string; value: string; display: { assetSymbol: string } };
  actions: ({ type: "build"; data: { data: string } } | Action)[];
};

/** The opaque string of an option's `build` action. */
export function buildDataOf({ actions: [action] }: Option): string {
  if (action?.type !== "build") throw new Error("no build action");
  return (action.data as { data: string }).data;
}

/** A shop that takes native coin, its buyers and its chain. */
export function nativeShop(world: TestWorld, baseUrl: () => string) {
  const api = () => actors(world, baseUrl);
  const url = () => {
    const found = world.world.chains[0];
    if (found === undefined) throw new Error("no chain");
    return found.anvil.rpcUrl;
  };
  const node = <T>(method: string, params: unknown[] = []) => rpc<T>(url(), method, params);
  const walletOf = ({ key }: Buyer) =>
    createWalletClient({ account: privateKeyToAccount(key), transport: nodeTransport(url()) });
  const listed = async (id: string, address: Hex): Promise<Option[]> =>
    (await api().options(id, [`${CHAIN}:${address}`])).body.options ?? [];
  // A chain that was too busy to answer offers nothing at that moment.
  const optionWhere = async (id: string, address: Hex, wanted: (one: Option) => boolean) => {
    const found = (
      await until(
        () => listed(id, address),
        (options) => options.some(wanted),
      )
    ).find(wanted);
    if (found === undefined) throw new Error("no such option");
    return found;
  };
  return {
    api,
    url,
    node,
    async buyer(): Promise<Buyer> {
      const key = generatePrivateKey();
      const { address } = privateKeyToAccount(key);
      await fundGas(url(), address);
      return { key, address };
    },
    async created(options: Parameters<ReturnType<typeof api>["create"]>[0] = {}): Promise<string> {
      const answer = await api().create(options);
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body.paymentId;
    },
    /** The ETH option of an account. */
    option: (id: string, { address }: { address: Hex }): Promise<Option> =>
      optionWhere(id, address, ({ amount }) => amount.unit.endsWith(NATIVE)),
    /** The USDC option of an account. */
    usdcOption: (id: string, { address }: { address: Hex }): Promise<Option> =>
      optionWhere(id, address, ({ amount }) => amount.display.assetSymbol === "USDC"),
    /** Whether an account is offered ETH at this moment. */
    async isOffered(id: string, { address }: { address: Hex }): Promise<boolean> {
      const found = await listed(id, address);
      return found.some(({ amount }) => amount.unit.endsWith(NATIVE));
    },
    /** The buyer's wallet calls the payment off. */
    cancel: (id: string): Promise<Answer> =>
      call(baseUrl(), "POST", `/v1/gateway/payment/${id}/cancel`, {
        headers: api().gatewayHeaders,
        body: {},
      }),
    fetch: (id: string, optionId: string, data = ""): Promise<Answer> =>
      call(baseUrl(), "POST", `/v1/gateway/payment/${id}/fetch`, {
        headers: api().gatewayHeaders,
        body: { optionId, data },
      }),
    /** The transfer of a served option, its last action. */
    async transfer(id: string, option: Option): Promise<Transfer> {
      const fetched = await this.fetch(id, option.id, buildDataOf(option));
      if (fetched.status !== 200) throw new Error(fetched.text);
      return fetched.body.actions.at(-1).data.params[0];
    },
    /** Sends from the buyer's wallet; `change` makes it another transaction than the one asked for. */
    send(
      buyer: Buyer,
      { to, data, value }: Omit<Transfer, "from">,
      change: {
        value?: bigint;
        data?: Hex;
        nonce?: number;
        maxFeePerGas?: bigint;
        maxPriorityFeePerGas?: bigint;
      } = {},
    ): Promise<Hex> {
      return walletOf(buyer).sendTransaction({
        to,
        data,
        value: BigInt(value),
        gas: 60_000n,
        chain: null,
        ...change,
      } as never);
    },
    final: (id: string, withinMs?: number) =>
      until(
        () => api().status(id, 2_000),
        ({ body }) => body.isFinal,
        withinMs,
      ),
    statusIs: (id: string, status: string) =>
      until(
        () => api().status(id),
        ({ body }) => body.status === status,
      ),
    rows: <T = Record<string, string>>(text: string, values: unknown[]) =>
      world.db.query<T>(text, values),
    exceptionOf: (hash: string) =>
      until(
        () =>
          world.db.query<{ kind: string; payment_id: string | null; amount_minor: string }>(
            `select kind, payment_id, amount_minor from exception_record where tx_ref = $1`,
            [hash],
          ),
        (found) => found.length > 0,
      ),
    balance: async (address: string) =>
      BigInt(await node<string>("eth_getBalance", [address, "latest"])),
  };
}
