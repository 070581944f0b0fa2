import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { openContainer } from "#server/container.ts";
import type { CollectLink } from "#server/domain/collect/token.ts";
import { readEnv } from "#server/platform/env.ts";
import type { Services } from "#server/ports/services.ts";
import { fundGas, mint } from "#server/sandbox/deploy.ts";
import { type Action, type Answer, actors, call, inToken, until, untilOffered } from "./api.ts";
import type { TestWorld } from "./world.ts";

/** A form nobody else fills in like this, so that any trace of it is found. */
export const FORM = {
  fullName: "Zebedee Quux-Canary",
  dob: "1971-03-17",
  pobCountry: "BT",
  pobAddress: "Xanadu-Canary Lane 7",
  tosConfirmed: true,
};
/** What must show nowhere; the country alone is two letters of anything. */
export const CANARIES = [FORM.fullName, FORM.dob, FORM.pobAddress, "Quux", "Xanadu"];

/** A form as a wallet sends it: text alone. */
export const asWallet = (form: Record<string, unknown> = FORM) => ({
  fields: Object.entries(form).map(([id, value]) => ({ id, value: String(value) })),
});

/** What a page reads from the address of a form. */
export function linkOf(url: string): CollectLink {
  const { searchParams } = new URL(url);
  const one = (name: string) => searchParams.get(name) ?? "";
  return { paymentId: one("pid"), accounts: one("accounts").split(","), token: one("t") };
}

/** Makes a merchant ask for data, and waits until the server has heard of it. */
export async function askForData(
  world: TestWorld,
  create: () => Promise<Answer>,
  settings: { merchantId: string; when: "never" | "above" | "always"; aboveCents?: number },
): Promise<void> {
  const { merchantId, when, aboveCents = 0 } = settings;
  await world.db.query(
    `update merchant set collect_when = $2, collect_above_cents = $3 where id = $1`,
    [merchantId, when, aboveCents],
  );
  await until(
    async () => {
      const { body } = await create();
      return world.db.query<{ collects_data: boolean }>(
        `select collects_data from payment where id = $1`,
        [body.paymentId],
      );
    },
    ([row]) => row?.collects_data === (when !== "never"),
  );
}

/** The server's own parts in this process, as a page's server has them. */
export async function withServices<T>(
  world: TestWorld,
  work: (services: Services) => Promise<T>,
): Promise<T> {
  const settings = readEnv({ ...world.world.serverEnv, PORT: "0", LOG_LEVEL: "silent" });
  const opened = openContainer(settings, { worker: false });
  try {
    return await work(opened.services);
  } finally {
    await opened.close();
  }
}

type Key = `0x${string}`;
export type Offered = {
  id: string;
  actions: Action[];
  collectData: { url: string; schema: unknown; fields: unknown[] } | null;
};

/** A buyer's calls; every answer is kept, so that a test can look through all of them. */
export function buyerOf(world: TestWorld, baseUrl: () => string, key: Key) {
  const { address } = privateKeyToAccount(key);
  const account = `eip155:31337:${address}`;
  const api = actors(world, baseUrl);
  const answers: Answer[] = [];
  const kept = (answer: Answer): Answer => {
    answers.push(answer);
    return answer;
  };
  /** What accounts are offered, asked for until each of them is offered something. */
  const listed = (id: string, accounts = [account]) =>
    untilOffered(
      async () => kept(await api.options(id, accounts)),
      (options) => new Set(options.map((one) => one.account)).size === accounts.length,
    );
  return {
    account,
    canonical: account.toLowerCase(),
    answers,
    listed,
    /** The USDC option of this account. */
    async option(id: string): Promise<Offered> {
      const { body, text } = await listed(id);
      const found = body.options?.find(inToken("USDC"));
      if (found === undefined) throw new Error(`no USDC option: ${text}`);
      return found;
    },
    async sign(option: Offered): Promise<string[]> {
      const outputs = [];
      for (const action of option.actions) outputs.push(await api.execute(action, key));
      return outputs;
    },
    confirm: async (id: string, optionId: string, outputs: string[], collectedData?: unknown) =>
      kept(
        await call(baseUrl(), "POST", `/v1/gateway/payment/${id}/confirm`, {
          headers: api.gatewayHeaders,
          body: {
            optionId,
            results: outputs.map((data) => ({ type: "walletRpc", data: [data] })),
            ...(collectedData === undefined ? {} : { collectedData }),
          },
        }),
      ),
    fetch: async (id: string, optionId: string) =>
      kept(
        await call(baseUrl(), "POST", `/v1/gateway/payment/${id}/fetch`, {
          headers: api.gatewayHeaders,
          body: { optionId, data: "" },
        }),
      ),
    final: async (id: string) =>
      kept(
        await until(
          () => api.status(id, 2_000),
          ({ body }) => body.isFinal,
        ),
      ),
    details: async (id: string) => kept(await api.details(id)),
  };
}

/** A new account with tokens of its own, so that no test disturbs another. */
export async function newBuyer(world: TestWorld, baseUrl: () => string) {
  const [chain] = world.world.chains;
  if (chain === undefined) throw new Error("no chain");
  const key = generatePrivateKey();
  const { address } = privateKeyToAccount(key);
  await fundGas(chain.anvil.rpcUrl, address);
  await mint(chain.anvil.rpcUrl, chain.deployment, "usdc", address, 100_000_000n);
  return buyerOf(world, baseUrl, key);
}

type Row = { account: string; name: string; sealed: Buffer; proven: boolean; days: number };

/** What is stored for a payment; `days` is for how long yet. */
export const rowsOf = (world: TestWorld, paymentId: string) =>
  world.db.query<Row>(
    `select account, name, sealed, proven, round(extract(epoch from delete_after - now()) / 86400)::int as days
     from collected_field where payment_id = $1 order by account, name`,
    [paymentId],
  );
