import { createWalletClient, type Hex, http } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { fundGas } from "#server/sandbox/deploy.ts";
import { rpc } from "#server/sandbox/node-rpc.ts";
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
    createWalletClient({ account: privateKeyToAccount(key), transport: http(url()) });
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
    async option(id: string, { address }: { address: Hex }): Promise<Option> {
      const listed = await api().options(id, [`${CHAIN}:${address}`]);
      const found = listed.body.options?.find((one: Option) => one.amount.unit.endsWith(NATIVE));
      if (found === undefined) throw new Error(`no ETH option: ${listed.text}`);
      return found;
    },
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
