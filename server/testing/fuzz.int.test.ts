import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EndpointShape, possibleErrors } from "#server/contract/endpoint.ts";
import { ERROR_STATUS, errorResponse, merchantErrorResponse } from "#server/contract/errors.ts";
import { ENDPOINTS } from "#server/contract/index.ts";
import { createMatcher, pathOf } from "#server/door/match.ts";
import { type Answer, actors, bugsIn, until } from "./api.ts";
import { type Call, send } from "./doors.ts";
import { exampleCall, targetOf } from "./example-call.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

/** How many odd calls each endpoint gets; FLORIN_TEST_LONG multiplies them. */
const RUNS = process.env.FLORIN_TEST_LONG === undefined ? 120 : 2_000;
const SEED = Number(process.env.FLORIN_TEST_SEED ?? Date.now() % 1_000_000_000);
/** Refusals that one code gives with another status than its own. */
const OTHER_STATUSES = [413, 415, 422];

let world: TestWorld;
let server: TestServer;
/** What stands in a path or a body for what the examples name. */
let real: Record<string, string>;

beforeAll(async () => {
  world = await createTestWorld();
  server = await world.startServer({ env: { FLORIN_WORKER: "off", LOG_LEVEL: "error" } });
  const made = await actors(world, () => server.baseUrl).create();
  // Not the merchant that calls: odd calls may change or delete this one.
  real = { id: made.body.paymentId, merchantId: world.demo.merchants[1]?.id ?? "" };
});
afterAll(async () => world?.stop());

const ODD_TEXT = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "null",
    "0",
    "-1",
    "1e999",
    "NaN",
    "\u0000",
    "\ud800",
    "💸".repeat(300),
    "a".repeat(70_000),
    "../../etc/passwd",
    "%00",
    "%",
    "' or 1=1 --",
    "{{7*7}}",
    "__proto__",
    "2026-02-30T25:61:61Z",
    "eip155:1:0x0",
    "pay_",
  ),
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 40 }),
);
const ODD_VALUE: fc.Arbitrary<unknown> = fc.oneof(
  ODD_TEXT,
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e21, 9007199254740992, [], {}, [[]], [null]),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Where a value sits inside another: every member and element, the whole included. */
function placesIn(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  const inside =
    typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([name, member]) => placesIn(member, [...path, name]))
      : [];
  return [path, ...inside];
}

/** A copy of `value` with what is at `path` replaced; `undefined` takes it out. */
function replaced(value: unknown, path: (string | number)[], by: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return by;
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value)
    ? [...value]
    : { ...(value as object) };
  const members = copy as Record<string, unknown>;
  members[step] = replaced(members[step], rest, by);
  if (members[step] === undefined) delete members[step];
  return copy;
}

type Odd = { call: Call; base: string };

/** One oddity put on a good call. */
function oddCalls(endpoint: EndpointShape): fc.Arbitrary<Odd> {
  const good = exampleCall(endpoint, world.demo, real);
  // Nothing changes while the calls are made: a held one would only wait.
  good.query.delete("maxPollMs");
  const target = (query: URLSearchParams) => targetOf({ path: good.path, query });
  const plain = { ...good, path: target(good.query) };
  const as = (call: Partial<Call>): Odd => ({ call: { ...plain, ...call }, base: good.path });
  const kinds: fc.Arbitrary<Odd>[] = [
    fc
      .tuple(
        fc.constantFrom("Service-Version", "Idempotency-Key", "Sdk-Name", "Api-Key", "Merchant-Id"),
        fc.string({ maxLength: 300 }),
      )
      .map(([name, value]) =>
        as({
          headers: {
            ...good.headers,
            [name]: Buffer.from(value.replaceAll(/[\r\n\0]/g, "")).toString("latin1"),
          },
        }),
      ),
    fc
      .constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND")
      .map((method) => as({ method })),
    fc.tuple(ODD_TEXT, ODD_TEXT).map(([name, value]) =>
      as({
        path: `${good.path}?${new URLSearchParams([[name.slice(0, 4_000), value.slice(0, 4_000)]])}`,
      }),
    ),
    ODD_TEXT.map((text) => {
      const odd = encodeURIComponent(text.toWellFormed().slice(0, 3_000));
      return as({ path: endpoint.path.replace(/\{\w+\}/g, odd === "" ? "x" : odd) });
    }),
  ];
  if (endpoint.query !== null && "shape" in endpoint.query)
    kinds.push(
      fc
        .tuple(
          fc.constantFrom(...Object.keys(endpoint.query.shape as object)),
          ODD_TEXT,
          fc.boolean(),
        )
        .map(([name, value, twice]) => {
          const query = new URLSearchParams(good.query);
          query.set(name, value.slice(0, 4_000));
          if (twice) query.append(name, value.slice(0, 4_000));
          return as({ path: target(query) });
        }),
    );
  if (good.body !== undefined)
    kinds.push(
      fc
        .tuple(fc.constantFrom(...placesIn(good.body)), ODD_VALUE)
        .map(([path, value]) =>
          as({ body: JSON.stringify(replaced(good.body, path, value)) ?? "" }),
        ),
      fc
        .constantFrom(...placesIn(good.body).filter((path) => path.length > 0))
        .map((path) => as({ body: JSON.stringify(replaced(good.body, path, undefined)) })),
      fc
        .tuple(ODD_TEXT, ODD_VALUE)
        .map(([name, value]) =>
          as({ body: JSON.stringify({ ...(good.body as object), [name]: value }) }),
        ),
      fc
        .constantFrom(
          "text/plain",
          "application/x-www-form-urlencoded",
          "application/json;charset=utf-7",
          "",
          "multipart/form-data; boundary=x",
          "application/JSON",
        )
        .map((type) => as({ headers: { ...good.headers, "Content-Type": type } })),
      fc.tuple(fc.nat(), fc.nat(255)).map(([at, byte]) => {
        const bytes = Buffer.from(JSON.stringify(good.body));
        bytes[at % bytes.length] = byte;
        return as({ body: bytes });
      }),
    );
  return fc.oneof(...kinds);
}

const byPath = createMatcher(
  Object.fromEntries(
    ENDPOINTS.map(({ path }) => [
      path,
      Object.fromEntries(
        ENDPOINTS.filter((one) => one.path === path).map((one) => [one.method, one]),
      ),
    ]),
  ) as never,
);

/** The endpoint a call ends at, if any does. */
function servedBy(call: Call): EndpointShape | null {
  const found = byPath(pathOf(call.path));
  if (found.kind !== "found") return null;
  return (found.methods as unknown as Record<string, EndpointShape>)[call.method ?? "GET"] ?? null;
}

/** Whether an answer is one the contract names for this call. */
function documented(answer: Answer, call: Call): string | null {
  const endpoint = servedBy(call);
  const isOutage =
    endpoint !== null && answer.status === 503 && answer.headers.get("retry-after") !== null;
  if (answer.status >= 500 && !isOutage) return "a 5xx";
  if (call.method === "OPTIONS")
    return answer.status === 204 || answer.status === 405 ? null : "a preflight";
  if (!answer.headers.get("request-id")) return "no request id";
  if (typeof answer.body !== "object" || answer.body === null) return "a body that does not parse";
  if (endpoint !== null && answer.status === endpoint.status)
    return endpoint.response.safeParse(answer.body).success ? null : "a success of another shape";
  const shape =
    endpoint?.auth === "gateway" || pathOf(call.path).startsWith("/v1/gateway/")
      ? errorResponse
      : merchantErrorResponse;
  const refusal = shape.safeParse(answer.body);
  if (!refusal.success) return "a refusal of another shape";
  if (endpoint === null) return [400, 404, 405].includes(answer.status) ? null : "an unserved path";
  const { code } = refusal.data;
  if (!possibleErrors(endpoint).includes(code)) return `the undocumented code ${code}`;
  const statuses = [ERROR_STATUS[code], ...OTHER_STATUSES];
  return (isOutage && code === "internal_error") || statuses.includes(answer.status)
    ? null
    : `${code} with another status`;
}

describe.each(ENDPOINTS.map((endpoint) => [endpoint.operation, endpoint] as const))(
  "%s",
  (_, endpoint) => {
    // Guarantee: whatever is sent, the answer is one the contract names, and the server goes on.
    test("odd calls", async () => {
      await fc.assert(
        fc.asyncProperty(oddCalls(endpoint), async ({ call }) => {
          const answer = await send(server.baseUrl, call);
          const wrong = documented(answer, call);
          expect(wrong, `${answer.status} ${answer.text.slice(0, 300)}`).toBeNull();
        }),
        { numRuns: RUNS, seed: SEED },
      );
    });
  },
);

// Guarantee: after all of it the server still answers, and nothing of it was written down as a bug.
test("the server is well", async () => {
  const ready = await until(
    () => send(server.baseUrl, { path: "/readyz" }),
    ({ status }) => status === 200,
  );
  expect(ready.status).toBe(200);
  expect(bugsIn(server.output())).toEqual([]);
});
