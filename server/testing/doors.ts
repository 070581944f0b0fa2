import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { expect } from "vitest";
import type { Database } from "#server/db/client.ts";
import { environment } from "#server/sandbox/migrate.ts";
import { ROOT } from "#server/sandbox/prepare.ts";
import { startProcess } from "#server/sandbox/process.ts";
import { type Answer, actors, until } from "./api.ts";
import { createTestWorld, type TestWorld } from "./world.ts";

/** The two ways a request reaches a handler: the process that serves payments, and Next on its own (`next start`). */
export const DOORS = ["front door", "Next"] as const;
export type Door = (typeof DOORS)[number];

/** Addresses that stand in links and answers of every door. */
export const PUBLIC = {
  FLORIN_BASE_URL: "https://api.florin.test",
  FLORIN_CHECKOUT_URL: "https://checkout.florin.test",
  FLORIN_PAY_HOST: "pay.florin.test",
};

/** One world behind both doors. Nothing works in the background, so that what a call changes is all that changes. */
export type Doors = {
  world: TestWorld;
  baseUrl(door: Door): string;
  /** A merchant's and a wallet's calls through one door. */
  at(door: Door): ReturnType<typeof actors>;
  /** What the door's process has printed. */
  output(door: Door): string;
  /** What Next answered before it had compared its chains. */
  first: Answer;
  /** Starts the worker, which ends what was begun. */
  startWorker(): Promise<void>;
  stop(): Promise<void>;
};

async function startNext(settings: Record<string, string>) {
  if (!existsSync(join(ROOT, ".next", "BUILD_ID")))
    throw new Error("no production build: run server/sandbox/prepare.ts first");
  const next = join(ROOT, "node_modules", "next", "dist", "bin", "next");
  return startProcess(
    "next",
    join(ROOT, "node_modules", ".bin", "node"),
    [next, "start", "-H", "127.0.0.1", "-p", "0"],
    {
      ready: /(http:\/\/127\.0\.0\.1:\d+)[\s\S]*Ready/,
      env: {
        ...environment(),
        LOG_LEVEL: "info",
        ...settings,
        NODE_ENV: "production",
        NEXT_TELEMETRY_DISABLED: "1",
      },
      cwd: ROOT,
    },
  );
}

/** Starts a world with both doors; what was started is stopped again when anything fails. */
export async function openDoors(
  options: Parameters<typeof createTestWorld>[0] = {},
): Promise<Doors> {
  const world = await createTestWorld(options);
  const settings = { ...PUBLIC, FLORIN_WORKER: "off" };
  const starting = startNext({ ...world.world.serverEnv, ...settings });
  const stop = async () => {
    await starting.then(
      (next) => next.stop(),
      () => undefined,
    );
    await world.stop();
  };
  try {
    const by = { "front door": await world.startServer({ env: settings }), Next: await starting };
    const base = { "front door": by["front door"].baseUrl, Next: by.Next.ready[1] ?? "" };
    // Next builds its parts when it is first asked for something.
    const first = await send(base.Next, { path: "/v1/payments/pay_first" });
    await until(
      () => send(base.Next, { path: "/readyz" }),
      ({ status }) => status === 200,
    );
    return {
      world,
      baseUrl: (door) => base[door],
      at: (door) => actors(world, () => base[door]),
      output: (door) => by[door].output(),
      first,
      startWorker: async () => void (await world.startServer({ entry: "worker" })),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Header lines as they are sent: a list may name one twice, and values may hold any byte (one character each). */
export type HeaderLines = Record<string, string> | [string, string][];
export type Call = { method?: string; path: string; headers?: HeaderLines; body?: unknown };

const CALL_WITHIN_MS = 40_000;

/** One request exactly as written: the path is not tidied up, and headers are not joined. An object body is sent as JSON. */
export function send(
  baseUrl: string,
  { method = "GET", path, headers = {}, body }: Call,
): Promise<Answer> {
  const { hostname, port, host } = new URL(baseUrl);
  const lines = Array.isArray(headers) ? headers : Object.entries(headers);
  const named = new Set(lines.map(([name]) => name.toLowerCase()));
  const raw = typeof body === "string" || body instanceof Uint8Array;
  const bytes = body === undefined ? null : Buffer.from(raw ? body : JSON.stringify(body));
  if (!named.has("host")) lines.unshift(["Host", host]);
  if (bytes !== null && !named.has("content-type"))
    lines.push(["Content-Type", "application/json"]);
  if (bytes !== null && !named.has("content-length") && !named.has("transfer-encoding"))
    lines.push(["Content-Length", String(bytes.byteLength)]);
  return new Promise((resolve, reject) => {
    const sent = request(
      { hostname, port, method, path, headers: lines.flat(), agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          const answered = new Headers();
          for (const [name, value] of Object.entries(response.headersDistinct))
            for (const one of value ?? []) answered.append(name, one);
          resolve({
            status: response.statusCode ?? 0,
            headers: answered,
            text,
            body: parsed(text),
          });
        });
      },
    );
    sent.setTimeout(CALL_WITHIN_MS, () => sent.destroy(new Error("no answer in time")));
    // A refusal may come before a large body was sent; the answer is what counts.
    sent.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") reject(error);
    });
    sent.end(bytes ?? undefined);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** What no answer may show: code, places, statements, markup. */
const LEAKS =
  /node_modules|\.ts\b|\.js\b|\/server\/|\/app\/|file:\/\/|\bat \w+ \(|<html|<!doctype|select .* from|insert into|prisma|postgres|ECONN|TypeError|undefined|\[object/i;

export type Refusal = { status: number; code: string; message?: string | RegExp };

/** Checks a refusal whole: status, body members, headers, and that nothing of the inside shows. */
export function expectRefusal(
  answer: Answer,
  path: string,
  { status, code, message }: Refusal,
): void {
  expect({ status: answer.status, code: answer.body?.code, text: answer.text }).toEqual({
    status,
    code,
    text: answer.text,
  });
  expect(answer.headers.get("content-type")).toBe("application/json");
  const { issues, ...body } = answer.body;
  const gateway = path.replace(/^\/+/, "/").startsWith("/v1/gateway/");
  const common = { code, message: expect.any(String), requestId: answer.headers.get("request-id") };
  expect(body).toEqual(
    gateway ? common : { ...common, status: "error", error: { code, message: body.message } },
  );
  expect(body.message).not.toBe("");
  if (message !== undefined) expect(body.message).toMatch(message);
  if (issues !== undefined) {
    expect(issues.length).toBeGreaterThan(0);
    for (const issue of issues)
      expect(issue).toEqual({
        path: expect.any(String),
        field: expect.any(String),
        message: expect.any(String),
      });
  }
  expect(answer.text).not.toMatch(LEAKS);
  expectCommonHeaders(answer, gateway);
}

/** Headers of every answer of the API. */
export function expectCommonHeaders({ headers }: Answer, gateway: boolean): void {
  expect(headers.get("request-id")).toMatch(/^req_[0-9A-Z]{26}$/);
  expect(headers.get("service-version")).toMatch(/^\d{4}-\d{2}-\d{2}(\.preview)?$/);
  expect(headers.get("wcp-version")).toBe(headers.get("service-version"));
  expect(headers.get("cache-control")).toMatch(/no-store/);
  expect(headers.get("access-control-allow-origin")).toBe(gateway ? "*" : null);
  expect(headers.get("access-control-allow-credentials")).toBeNull();
  expect(headers.get("x-powered-by")).toBeNull();
}

/** When a key was last used, how often somebody called, and which number an event was given, is no content. */
const NO_CONTENT = ["last_used_at", "number", "numbered_at", "event_number"];

/** The statement that digests every table there is now, in whatever order its rows lie. */
async function digestOf(db: Database): Promise<string> {
  const tables = await db.query<{ name: string; plain: boolean }>(
    `select quote_ident(schemaname) || '.' || quote_ident(relname) as name,
       not exists (select 1 from pg_attribute where attrelid = relid and attname = any($1)) as plain
     from pg_stat_user_tables
     where (schemaname = 'public' and relname not in ('_prisma_migrations', 'rate_count')) or (schemaname, relname) = ('pgboss', 'job')`,
    [NO_CONTENT],
  );
  expect(tables.length).toBeGreaterThan(20);
  const parts = tables.map(({ name, plain }) => {
    const row = plain ? "x::text" : `(to_jsonb(x) - '{${NO_CONTENT.join()}}'::text[])::text`;
    return `select '${name}' as name, count(*) || ' rows ' || coalesce(sum(hashtextextended(${row}, 0)), 0) as digest
      from ${name} x where $1 = '' or x::text like '%' || $1 || '%'`;
  });
  return parts.join(" union all ");
}

/** Every table with its number of rows and a digest of their contents; with `about` only of the rows that mention it. */
export async function contents(db: Database, about = ""): Promise<Record<string, string>> {
  const text = await digestOf(db);
  // Planning it takes longer than running it: a connection does that once, for as long as the tables are the same.
  const name = hash("md5", text);
  const statement = { name, text, values: [about] };
  const { rows } = await db.pool.query<{ name: string; digest: string }>(statement);
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
}

/** Runs `work` and checks that it left every row of every table as it was; with `about` every row that mentions it. */
export async function changesNothing<T>(
  db: Database,
  work: () => Promise<T>,
  about = "",
): Promise<T> {
  const before = await contents(db, about);
  const result = await work();
  expect(await contents(db, about)).toEqual(before);
  return result;
}
