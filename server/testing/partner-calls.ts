import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { issueKey } from "#server/db/credentials.ts";
import { newId } from "#server/platform/ids.ts";
import { type Answer, call } from "./api.ts";
import type { TestServer, TestWorld } from "./world.ts";

const SHOP = { merchantName: "Corner Shop", merchantEmail: "till@shop.test" };

/** A key with the merchant scope; `merchantId` null: for every merchant of the partner. */
export const partnerKey = async (
  world: TestWorld,
  partnerId: string,
  merchantId: string | null = null,
): Promise<string> =>
  (
    await issueKey(world.db.query, world.world.memory.pepper, {
      partnerId,
      merchantId,
      environment: "test",
      scopes: ["merchant"],
    })
  ).key;

/** A partner nobody knows, and the key that manages its merchants. */
export async function newPartner(world: TestWorld): Promise<{ id: string; key: string }> {
  const id = newId("partner");
  await world.db.query(
    `insert into partner (id, name, api_version) values ($1, 'Another', '2026-02-18')`,
    [id],
  );
  return { id, key: await partnerKey(world, id) };
}

type Options = { key?: string; body?: unknown; headers?: Record<string, string> };

/** The calls of a partner; `key` is the demo partner's unless one is given. */
export function partnerCalls(world: TestWorld, server: () => TestServer) {
  const ask = (method: string, path: string, options: Options = {}): Promise<Answer> => {
    const { key = world.demo.partner?.apiKey ?? "", body, headers = {} } = options;
    return call(server().baseUrl, method, path, { headers: { "Api-Key": key, ...headers }, body });
  };
  return {
    ask,
    /** Makes a merchant and returns its id. */
    async merchant(options: Options = {}): Promise<string> {
      const body = { ...SHOP, ...(options.body as object | undefined) };
      const answer = await ask("POST", "/v1/merchants", { ...options, body });
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body.merchant.id;
    },
    /** Adds settlement destinations. */
    add: (merchantId: string, settlements: unknown, headers: Record<string, string> = {}) =>
      ask("POST", `/v1/merchants/${merchantId}/settlements/crypto`, {
        body: { settlements },
        headers,
      }),
  };
}

/** An account nobody has the key of any more. */
export const freshAccount = (chain = "eip155:31337"): string =>
  `${chain}:${privateKeyToAccount(generatePrivateKey()).address}`;

/** Status and code of a refusal. */
export const refusal = ({ status, body }: Answer): unknown[] => [status, body.code];

/** A refusal without what differs from call to call. */
export const anonymous = ({ status, body }: Answer) => ({
  status,
  body: { ...body, requestId: "" },
});
