import { createWalletClient, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { nodeTransport } from "#server/sandbox/node-rpc.ts";
import type { TestWorld } from "./world.ts";

/** An answer as a stranger sees it; `body` is what parsed as JSON, or the text. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes and assert on each.
export type Answer = { status: number; headers: Headers; text: string; body: any };

/** One HTTP call; a plain object body is sent as JSON. */
export async function call(
  baseUrl: string,
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: unknown; signal?: AbortSignal } = {},
): Promise<Answer> {
  const { body, headers = {}, signal = AbortSignal.timeout(60_000) } = options;
  const raw = typeof body === "string" || body instanceof Uint8Array;
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: raw ? (body as BodyInit) : JSON.stringify(body) }),
    redirect: "manual",
    signal,
  });
  const text = await response.text();
  let parsed: unknown = text;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Not JSON: the test sees the text and fails on it.
  }
  return { status: response.status, headers: response.headers, text, body: parsed };
}

export type Action = {
  type: string;
  data: { chain_id: string; method: string; params: unknown[] };
};

/** What tests look at in an option. */
export type OfferedOption = {
  id: string;
  account: string;
  amount: { value: string; display: { assetSymbol: string } };
  actions: Action[];
};

/** Says of an option whether it pays in this token. */
export const inToken =
  (symbol: string) =>
  ({ amount }: OfferedOption): boolean =>
    amount.display.assetSymbol === symbol;

/**
 * Asks for options until there are enough of them, or until the call is refused or the payment is under way: a chain that is
 * too busy to answer offers nothing at that moment, and a wallet asks again.
 */
export const untilOffered = (
  ask: () => Promise<Answer>,
  isEnough = ({ length }: OfferedOption[]): boolean => length > 0,
): Promise<Answer> =>
  until(ask, ({ status, body }) => {
    const isOpen = (body.info?.status ?? "requires_action") === "requires_action";
    return status !== 200 || !isOpen || isEnough(body.options);
  });

/** The lines of a server's log that tell of a bug: errors, without the outages that were answered as such. */
export const bugsIn = (output: string): string[] =>
  output
    .split("\n")
    .filter((line) => /^\{"level":(50|60)\b/.test(line) && JSON.parse(line).status !== 503);

/** The calls of a merchant and of a wallet in one world, with real keys and real signatures. */
export function actors(world: TestWorld, baseUrl: () => string) {
  const gateway = { "Api-Key": world.demo.gateway.apiKey };
  const merchantHeaders = (flow: "intermediary" | "direct") => {
    const merchant = world.demo.merchants.find((m) => m.flow === flow);
    if (merchant === undefined) throw new Error(`no ${flow} merchant`);
    return { "Api-Key": merchant.apiKey, "Merchant-Id": merchant.id };
  };
  const rpcOf = (caip2: string) => {
    const chain = world.world.chains.find((c) => c.caip2 === caip2);
    if (chain === undefined) throw new Error(`no chain ${caip2}`);
    return chain.anvil.rpcUrl;
  };
  const execute = async (action: Action, key: Hex): Promise<string> => {
    const account = privateKeyToAccount(key);
    const { chain_id, method, params } = action.data;
    if (method === "eth_signTypedData_v4") {
      const { EIP712Domain: _, ...types } = JSON.parse(String(params[1])).types;
      return account.signTypedData({ ...JSON.parse(String(params[1])), types });
    }
    if (method === "personal_sign")
      return account.signMessage({ message: { raw: params[0] as Hex } });
    const wallet = createWalletClient({ account, transport: nodeTransport(rpcOf(chain_id)) });
    const { to, data, value } = params[0] as { to: Hex; data: Hex; value?: Hex };
    return wallet.sendTransaction({ to, data, value: BigInt(value ?? 0), chain: null });
  };
  return {
    gatewayHeaders: gateway,
    merchantHeaders,
    execute,
    create: (
      options: {
        value?: string;
        unit?: string;
        flow?: "intermediary" | "direct";
        expiresAt?: number;
        headers?: Record<string, string>;
      } = {},
    ) =>
      call(baseUrl(), "POST", "/v1/merchant/payment", {
        headers: { ...merchantHeaders(options.flow ?? "intermediary"), ...options.headers },
        body: {
          amount: { unit: options.unit ?? "iso4217/USD", value: options.value ?? "1250" },
          referenceId: "order-1",
          ...(options.expiresAt === undefined ? {} : { expiresAt: options.expiresAt }),
        },
      }),
    options: (id: string, accounts: string[]) =>
      call(baseUrl(), "POST", `/v1/gateway/payment/${id}/options?includePaymentInfo=true`, {
        headers: gateway,
        body: { accounts },
      }),
    confirm: (id: string, optionId: string, outputs: string[], maxPollMs = 0) =>
      call(baseUrl(), "POST", `/v1/gateway/payment/${id}/confirm?maxPollMs=${maxPollMs}`, {
        headers: gateway,
        body: { optionId, results: outputs.map((data) => ({ type: "walletRpc", data: [data] })) },
      }),
    status: (id: string, maxPollMs = 0) =>
      call(baseUrl(), "GET", `/v1/gateway/payment/${id}/status?maxPollMs=${maxPollMs}`, {
        headers: gateway,
      }),
    details: (id: string, flow: "intermediary" | "direct" = "intermediary") =>
      call(baseUrl(), "GET", `/v1/payments/${id}`, { headers: merchantHeaders(flow) }),
    /** Options, signatures and confirm with one account; `pick` chooses among the options by token symbol. */
    async pay(
      id: string,
      key: Hex,
      symbol: "USDC" | "USDT",
      caip2 = "eip155:31337",
      maxPollMs = 0,
    ): Promise<Answer> {
      const accounts = [`${caip2}:${privateKeyToAccount(key).address}`];
      const listed = await untilOffered(
        () => this.options(id, accounts),
        (options) => options.some(inToken(symbol)),
      );
      const option = listed.body.options?.find(inToken(symbol));
      if (option === undefined) throw new Error(`no ${symbol} option: ${listed.text}`);
      const outputs: string[] = [];
      for (const action of option.actions) outputs.push(await execute(action, key));
      return this.confirm(id, option.id, outputs, maxPollMs);
    },
  };
}

/** Asks again until `done` says so; gives up with the last answer after `withinMs`. Never sleeps longer than it must. */
export async function until<T>(
  ask: () => Promise<T>,
  done: (value: T) => boolean,
  withinMs = 60_000,
): Promise<T> {
  const start = Date.now();
  for (;;) {
    const value = await ask();
    if (done(value)) return value;
    const waited = Date.now() - start;
    if (waited > withinMs) throw new Error(`not in time: ${JSON.stringify(value)?.slice(0, 800)}`);
    // What did not happen at once waits for a block.
    await new Promise((resolve) => setTimeout(resolve, waited < 500 ? 50 : 250));
  }
}
