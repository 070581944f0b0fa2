import { ask, createMany, ORDER, shopHeaders, walletHeaders } from "./api.ts";
import type { BenchWorld } from "./bench-world.ts";
import { type CountingProxy, countRpc, countSql } from "./counting-proxy.ts";
import { makeHolders } from "./options.ts";
import { median } from "./statistics.ts";
import { confirm, type Signed, signUsdc } from "./wallet.ts";

/** How often one call waits for PostgreSQL and for the chain's node, in the middle of several calls. */
export type Trips = { call: string; sql: number; rpc: number };

const CALLS = 9;
/** A connection pool and the lookups of keys are warm after this many calls. */
const WARM_UP = 3;

async function count(
  call: string,
  { sql, rpc }: { sql: CountingProxy; rpc: CountingProxy },
  work: (n: number) => Promise<unknown>,
): Promise<Trips> {
  const seen: { sql: number; rpc: number }[] = [];
  for (let n = 0; n < WARM_UP + CALLS; n++) {
    const before = { sql: sql.count(), rpc: rpc.count() };
    await work(n);
    if (n >= WARM_UP) seen.push({ sql: sql.count() - before.sql, rpc: rpc.count() - before.rpc });
  }
  return {
    call,
    sql: median(seen.map((one) => one.sql)),
    rpc: median(seen.map((one) => one.rpc)),
  };
}

async function countCalls(
  world: BenchWorld,
  baseUrl: string,
  proxies: { sql: CountingProxy; rpc: CountingProxy },
): Promise<Trips[]> {
  const total = WARM_UP + CALLS;
  const shop = shopHeaders(world);
  const wallet = walletHeaders(world);
  const ids = await createMany(world, baseUrl, total);
  const accounts = await makeHolders(world, total);
  const create = (headers: Record<string, string>) =>
    ask(baseUrl, "POST", "/v1/merchant/payment", headers, ORDER);
  const read = (caller: string, headers: Record<string, string>) => (n: number) =>
    ask(baseUrl, "GET", `/v1/${caller}/payment/${ids[n]}/status`, headers);
  const options = (n: number) =>
    ask(baseUrl, "POST", `/v1/gateway/payment/${ids[n]}/options`, wallet, {
      accounts: [`${world.caip2}:${accounts[n]}`],
    });
  const trips = [
    await count("create", proxies, () => create(shop)),
    await count("create with Idempotency-Key", proxies, (n) =>
      create({ ...shop, "Idempotency-Key": `trips-${n}` }),
    ),
    await count("merchant status", proxies, read("merchant", shop)),
    await count("gateway status", proxies, read("gateway", wallet)),
    await count("options, asked first", proxies, options),
    await count("options, asked again", proxies, options),
  ];
  const signed: Signed[] = [];
  for (const id of ids) signed.push(await signUsdc(world, baseUrl, id));
  const confirmed = await count("confirm", proxies, async (n) => {
    const one = signed[n];
    if (one !== undefined) await confirm(world, baseUrl, one);
  });
  return [...trips, confirmed];
}

/** Counts round trips on a server of its own that does nothing but answer: its worker is off. */
export async function measureRoundTrips(world: BenchWorld): Promise<Trips[]> {
  const sql = await countSql(world.world.databaseUrl);
  const rpc = await countRpc(world.rpcUrl);
  try {
    const server = await world.startServer({
      FLORIN_WORKER: "off",
      DATABASE_URL: sql.url,
      FLORIN_RPC_31337: rpc.url,
    });
    const trips = await countCalls(world, server.baseUrl, { sql, rpc });
    await server.stop();
    return trips;
  } finally {
    await Promise.all([sql.stop(), rpc.stop()]);
  }
}
