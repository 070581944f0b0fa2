import { afterAll, beforeAll, expect, test } from "vitest";
import { LIMITS, type LimitName } from "#server/domain/limits.ts";
import { type Answer, actors, call, until } from "./api.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

const GUESS = `gk_test_${"g".repeat(43)}`;
const PAYMENTS = 6;

let world: TestWorld;
let ids: string[];

const setting = (name: LimitName, calls: number) => ({
  [`FLORIN_LIMIT_${name.toUpperCase()}`]: String(calls),
});
const open = (env: Record<string, string>): Promise<TestServer> =>
  world.startServer({ env: { FLORIN_WORKER: "off", ...env } });
const appHeaders = (client: string) => ({
  "App-Id": world.demo.gateway.appId,
  "Client-Id": client,
});
const keyHeaders = () => ({ "Api-Key": world.demo.gateway.apiKey });
const shopHeaders = () => actors(world, () => "").merchantHeaders("intermediary");
const idOf = (n: number): string => ids[n % ids.length] ?? "";
const statusPath = (n = 0) => `/v1/gateway/payment/${idOf(n)}/status`;
const read = (server: TestServer, headers: Record<string, string>, n = 0): Promise<Answer> =>
  call(server.baseUrl, "GET", statusPath(n), { headers });

/** The number of a limit's window, with the part of it that is over. */
const windowOf = (name: LimitName): number => Date.now() / (LIMITS[name].windowS * 1000);
const windowNow = (name: LimitName): number => Math.floor(windowOf(name));

/** Waits until a window later than `used` has just begun, so that what follows falls into one. */
const beginWindow = async (name: LimitName, used: number): Promise<number> =>
  Math.floor(
    await until(
      async () => windowOf(name),
      (at) => Math.floor(at) > used && at % 1 < 1 / 5,
    ),
  );

/**
 * Makes calls all within one window and gives what `work` read; begins anew, in a window nothing was counted in, where the machine
 * was too slow for that. So `work` itself asserts nothing.
 */
async function inOneWindow<T>(name: LimitName, work: () => Promise<T>): Promise<T> {
  let used = -1;
  const attempt = async () => {
    const window = await beginWindow(name, used);
    const result = await work();
    used = windowNow(name);
    return { result, isWhole: used === window };
  };
  return (await until(attempt, ({ isWhole }) => isWhole)).result;
}

const many = (count: number, one: (n: number) => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => one(n)));
const countOf = (answers: Answer[], status: number): number =>
  answers.filter((one) => one.status === status).length;

beforeAll(async () => {
  world = await createTestWorld();
  const server = await open({});
  const shop = actors(world, () => server.baseUrl);
  ids = [];
  for (let n = 0; n < PAYMENTS; n++) ids.push((await shop.create()).body.paymentId);
  await server.stop();
});
afterAll(() => world?.stop());

// Guarantee: no key, app, payment or address is served more often than its limit, and what is above is refused in a way a wallet survives.
test.for([
  ["wallet", () => keyHeaders()],
  ["client", () => appHeaders("phone")],
  ["payment", (n) => appHeaders(`phone-${n}`)],
  ["address", (n) => appHeaders(`phone-${n}`)],
] as [LimitName, (n: number) => Record<string, string>][])("limit: %s", async ([name, headers]) => {
  const server = await open(setting(name, 20));
  const answers = await inOneWindow(name, () =>
    many(30, (n) => read(server, headers(n), name === "payment" ? 0 : n)),
  );
  expect([countOf(answers, 200), countOf(answers, 429)]).toEqual([20, 10]);
  for (const { status, headers: got, body } of answers.filter((one) => one.status === 429)) {
    expect([status, body.code]).toEqual([429, "rate_limited"]);
    expect(body.requestId).toBe(got.get("request-id"));
    expect(["1", "2"]).toContain(got.get("retry-after"));
    expect(got.get("ratelimit")).toMatch(new RegExp(`^"${name}";r=0;t=[12]$`));
    expect(got.get("ratelimit-policy")).toContain(`"${name}";q=20;w=2`);
    expect(got.get("access-control-expose-headers")).toMatch(/RateLimit, RateLimit-Policy/);
  }
  await server.stop();
});

// Guarantee: an answer tells how much is left of the limit that ends first, and lists the others.
test("headers of an answer within its limits", async () => {
  const server = await open({ ...setting("client", 10), ...setting("payment", 8) });
  const [first, second] = await inOneWindow("client", async () => [
    await read(server, appHeaders("a")),
    await read(server, appHeaders("b")),
  ]);
  expect(first?.headers.get("ratelimit-policy")).toBe('"client";q=10;w=2, "payment";q=8;w=2');
  expect(first?.headers.get("ratelimit")).toMatch(/^"payment";r=7;t=[12]$/);
  expect(second?.headers.get("ratelimit")).toMatch(/^"payment";r=6;t=[12]$/);
  const shop = await call(server.baseUrl, "GET", `/v1/merchant/payment/${idOf(0)}/status`, {
    headers: shopHeaders(),
  });
  expect(shop.headers.get("ratelimit-policy")).toBe(`"key";q=${LIMITS.key.sandboxCalls};w=10`);
  expect(shop.headers.get("access-control-expose-headers")).toBeNull();
  await server.stop();
});

// Guarantee: whoever is above a limit does not take anything from others, and is served again in the next window.
test("a limit is somebody's own, and ends", async () => {
  const server = await open(setting("client", 5));
  const answers = await inOneWindow("client", async () => {
    await many(8, () => read(server, appHeaders("greedy")));
    return [
      await read(server, appHeaders("greedy")),
      await read(server, appHeaders("modest")),
      await read(server, appHeaders("greedy".repeat(40))),
      await read(server, keyHeaders()),
    ];
  });
  expect(answers.map(({ status }) => status)).toEqual([429, 200, 200, 200]);
  const again = await until(
    () => read(server, appHeaders("greedy")),
    ({ status }) => status === 200,
  );
  expect(again.body.status).toBe("requires_action");
  await server.stop();
});

// Guarantee: lists of options, which ask a chain's node, have a limit of their own for each payment.
test("options of one payment", async () => {
  const server = await open(setting("options", 3));
  const list = (n: number) =>
    call(server.baseUrl, "POST", `/v1/gateway/payment/${idOf(n)}/options`, {
      headers: appHeaders("phone"),
      body: { accounts: [`eip155:31337:${world.buyer("empty").address}`] },
    });
  const { lists, others } = await inOneWindow("options", async () => ({
    lists: await many(6, () => list(0)),
    others: [await list(1), await read(server, appHeaders("phone"), 0)],
  }));
  expect([countOf(lists, 200), countOf(lists, 429)]).toEqual([3, 3]);
  expect(others.map(({ status }) => status)).toEqual([200, 200]);
  await server.stop();
});

// Guarantee: guessing credentials is stopped, and nobody with a good one is locked out by a guesser behind the same address.
test("refused credentials", async () => {
  const server = await open(setting("failures", 10));
  expect((await read(server, keyHeaders())).status).toBe(200);
  const guesses = [
    ...Array.from({ length: 10 }, (_, n) => ({ "Api-Key": `${GUESS}${n}` })),
    { "Api-Key": GUESS },
    { ...appHeaders("phone"), "App-Id": "app_test_guess" },
  ];
  const { codes, good, merchant } = await inOneWindow("failures", async () => {
    const codes: string[] = [];
    for (const guess of guesses) codes.push((await read(server, guess)).body.code);
    return {
      codes,
      good: await read(server, keyHeaders()),
      merchant: await call(server.baseUrl, "GET", `/v1/payments/${idOf(0)}`, {
        headers: { "Api-Key": GUESS.replace("gk", "sk"), "Merchant-Id": "mer_1" },
      }),
    };
  });
  expect(codes).toEqual([
    ...Array<string>(10).fill("invalid_api_key"),
    "rate_limited",
    "rate_limited",
  ]);
  expect(good.status).toBe(200);
  expect(merchant.body).toMatchObject({
    code: "rate_limited",
    status: "error",
    error: { code: "rate_limited" },
  });
  await server.stop();
});

// Guarantee: nobody chooses the address they are counted under; where proxies are trusted, theirs is the word that counts.
test.for([
  [0, 5],
  [1, 12],
  [2, 5],
] as const)("X-Forwarded-For with %d trusted proxies", async ([proxies, served]) => {
  const server = await open({
    ...setting("address", 5),
    FLORIN_TRUSTED_PROXIES: String(proxies),
  });
  const answers = await inOneWindow("address", () =>
    many(12, (n) =>
      read(server, { ...keyHeaders(), "X-Forwarded-For": `10.9.9.9, 10.0.0.${n}` }, n),
    ),
  );
  expect([countOf(answers, 200), countOf(answers, 429)]).toEqual([served, 12 - served]);
  await server.stop();
});

// Guarantee: a restart gives nobody a second helping.
test("what was counted before a restart still counts", async () => {
  const ask = (server: TestServer) =>
    call(server.baseUrl, "GET", `/v1/merchant/payment/${idOf(0)}/status`, {
      headers: shopHeaders(),
    });
  const first = await open(setting("key", 40));
  const { refused, written } = await inOneWindow("key", async () => {
    const window = windowNow("key");
    await many(41, () => ask(first));
    return {
      refused: await ask(first),
      written: await until(
        () => countsAbove(40, window),
        (rows) => rows.length > 0 || windowNow("key") > window,
      ),
    };
  });
  expect([refused.status, refused.body.error.code]).toEqual([429, "rate_limited"]);
  expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(LIMITS.key.windowS);
  expect(written).toHaveLength(1);
  await first.kill();
  await holdInLaterWindows(LIMITS.key.windowS);
  const second = await open(setting("key", 40));
  expect((await ask(second)).status).toBe(429);
  await second.stop();
});

const countsAbove = (used: number, window: number) =>
  world.db.query(
    `select 1 from rate_count where bucket like 'key %' and used > $1 and "window" = $2`,
    [used, window],
  );

/** Lets the counts of a key that are written down count in the windows of the next two minutes too: a server may start in any of them. */
const holdInLaterWindows = (windowS: number) =>
  world.db.query(
    `insert into rate_count (bucket, "window", used, expires_at)
     select bucket, "window" + n, used, expires_at + make_interval(secs => n * $1)
     from rate_count, generate_series(1, 120 / $1) as n where bucket like 'key %'
     on conflict do nothing`,
    [windowS],
  );

const lastUse = () =>
  world.db.query<{ at: string | null }>(
    `select max(last_used_at) as at from api_key where scopes = '{gateway}'`,
  );

/** Rows written so far, by table; a connection has told of all its own when it is closed. */
async function written(): Promise<Record<string, number>> {
  await world.db.query(`select pg_stat_force_next_flush()`);
  const rows = await world.db.query<{ name: string; n: string }>(
    `select relname as name, n_tup_ins + n_tup_upd + n_tup_del as n from pg_stat_user_tables
     where schemaname = 'public'`,
  );
  return Object.fromEntries(rows.map(({ name, n }) => [name, Number(n)]));
}

/** Until every server's connections are closed: each has told of its rows by then. */
const alone = () =>
  until(
    () =>
      world.db.query<{ others: string }>(
        `select count(*) - $1 as others from pg_stat_activity
         where datname = current_database() and backend_type = 'client backend'`,
        [world.db.pool.totalCount],
      ),
    ([row]) => row?.others === "0",
  );

// Guarantee: reading writes nothing but, once a minute whoever reads, when a key was last used.
test("a thousand reads", async () => {
  await world.db.query(`delete from rate_count`);
  await world.db.query(`update api_key set last_used_at = null`);
  const first = await open({});
  await read(first, keyHeaders());
  const used = await until(lastUse, (rows) => rows[0]?.at !== null);
  await first.stop();
  await alone();
  const before = await written();
  const second = await open({});
  for (let round = 0; round < 10; round++)
    expect(countOf(await many(100, (n) => read(second, keyHeaders(), n)), 200)).toBe(100);
  await second.stop();
  await alone();
  expect(await written()).toEqual(before);
  expect(await lastUse()).toEqual(used);
});
