import { describe, expect, test } from "vitest";
import { z } from "zod";
import { GatewayError } from "./gateway-error.ts";
import { type Scripted, START_MS, scriptedGateway, virtualTime } from "./test-support.ts";
import { createTransport, type TransportSettings } from "./transport.ts";

const OK: Scripted = { status: 200, body: { n: 1 } };
const failing = (status: number): Scripted => ({
  status,
  body: { code: "internal_error", message: `fails with ${status}`, requestId: "req_1" },
});

function setUp(lines: Scripted[], settings: Partial<TransportSettings> = {}) {
  const time = virtualTime();
  const gateway = scriptedGateway(time, { "GET thing": lines, "POST thing": lines });
  const transport = createTransport({
    baseUrl: "https://pay.example.com/",
    credentials: { apiKey: "gk_test_1" },
    fetch: gateway.fetch,
    timers: time,
    random: () => 0,
    ...settings,
  });
  const ask = (more: { signal?: AbortSignal; holdMs?: number; body?: unknown } = {}) =>
    transport.call({
      method: more.body === undefined ? "GET" : "POST",
      path: "/v1/thing",
      answer: z.object({ n: z.number() }),
      ...more,
    });
  /** The error of a call that must fail. */
  const troubleOf = async (work: Promise<unknown>) => {
    const error: unknown = await time.run(
      work.then(
        () => null,
        (error: unknown) => error,
      ),
    );
    if (!(error instanceof GatewayError)) throw new Error(`no GatewayError: ${String(error)}`);
    return error;
  };
  return { time, ...gateway, transport, ask, troubleOf };
}

describe("retries", () => {
  // Guarantee: a passing disturbance costs the user nothing but a moment.
  test("three retries follow 5xx and lost connections, after 100, 200 and 400 ms", async () => {
    const { time, calls, ask } = setUp([failing(500), "connection lost", failing(503), OK]);
    expect(await time.run(ask())).toEqual({ n: 1 });
    expect(calls.map(({ atMs }) => atMs)).toEqual([0, 100, 300, 700]);
  });

  // Guarantee: a broken service is not hammered.
  test("the fourth failure is the last", async () => {
    const { calls, ask, troubleOf } = setUp([failing(502)]);
    const error = await troubleOf(ask());
    expect(calls).toHaveLength(4);
    expect(error).toMatchObject({ kind: "unavailable", status: 502, requestId: "req_1" });
  });

  // Guarantee: wallets that failed together do not come back together.
  test("jitter spreads each pause over up to its double", async () => {
    const { time, calls, ask } = setUp([failing(500), failing(500), OK], { random: () => 0.5 });
    await time.run(ask());
    expect(calls.map(({ atMs }) => atMs)).toEqual([0, 150, 450]);
  });

  // Guarantee: a refusal is final, whatever its number.
  test.for([400, 401, 403, 404, 408, 409, 410, 422, 429, 451])(
    "%i is asked once",
    async (status) => {
      const { calls, ask, troubleOf } = setUp([
        {
          status,
          body: {
            code: "params_validation",
            message: "no",
            requestId: "req_9",
            issues: [{ path: "accounts.0", field: "accounts", message: "not CAIP-10" }],
          },
          headers: { "Retry-After": "2" },
        },
      ]);
      const error = await troubleOf(ask());
      expect(calls).toHaveLength(1);
      expect(error).toMatchObject({
        kind: "refused",
        status,
        code: "params_validation",
        message: "no",
        requestId: "req_9",
        issues: [{ path: "accounts.0", message: "not CAIP-10" }],
        retryAfterMs: 2000,
      });
    },
  );

  // Guarantee: an error page of something in between is told apart from a refusal of the service.
  test("a refusal that is not JSON has no code", async () => {
    const { ask, troubleOf } = setUp([{ status: 404, body: "<html>nginx</html>" }]);
    expect(await troubleOf(ask())).toMatchObject({ kind: "refused", status: 404, code: null });
  });

  // Guarantee: an answer outside the protocol is reported at once and never taken for success.
  test.for([{ n: "1" }, "not json", [], null])("the answer %j is unreadable", async (body) => {
    const { calls, ask, troubleOf } = setUp([{ status: 200, body }]);
    expect(await troubleOf(ask())).toMatchObject({ kind: "unreadable", status: 200 });
    expect(calls).toHaveLength(1);
  });
});

describe("time", () => {
  // Guarantee: a server that never answers does not freeze the wallet.
  test("an attempt ends after its time and is retried", async () => {
    const { time, calls, ask } = setUp(["silence", OK], { requestTimeoutMs: 4000 });
    await time.run(ask());
    expect(calls.map(({ atMs }) => atMs)).toEqual([0, 4100]);
  });

  // Guarantee: a long poll is not cut off by the time-out of ordinary calls.
  test("the hold asked for comes on top", async () => {
    const { time, calls, ask } = setUp(["silence", OK], { requestTimeoutMs: 4000 });
    await time.run(ask({ holdMs: 20_000 }));
    expect(calls.map(({ atMs }) => atMs)).toEqual([0, 24_100]);
  });

  // Guarantee: a wrong clock on the phone does not move a payment's deadline.
  test("the server's clock is taken from its Date header, rounded up", async () => {
    const { time, ask, transport } = setUp([
      { status: 200, body: { n: 1 }, headers: { Date: "Thu, 01 Jan 2026 01:00:00 GMT" } },
    ]);
    expect(transport.serverNow()).toBe(START_MS);
    await time.run(ask());
    expect(transport.serverNow()).toBe(START_MS + 3_600_999);
    await time.run(time.sleep(5000));
    expect(transport.serverNow()).toBe(START_MS + 3_605_999);
  });
});

describe("aborting", () => {
  // Guarantee: a wallet that was closed stops talking.
  test("ends a call in flight with the caller's reason, without a retry", async () => {
    const { time, calls, ask } = setUp(["silence"]);
    const stop = new AbortController();
    const call = ask({ signal: stop.signal });
    time.after(50, () => stop.abort(new Error("closed")));
    await expect(time.run(call)).rejects.toThrow("closed");
    expect(calls).toHaveLength(1);
  });

  // Guarantee: the same in the last attempt.
  test("ends the last attempt with the caller's reason too", async () => {
    const { time, ask } = setUp([failing(500), failing(500), failing(500), "silence"]);
    const stop = new AbortController();
    const call = ask({ signal: stop.signal });
    time.after(800, () => stop.abort(new Error("closed")));
    await expect(time.run(call)).rejects.toThrow("closed");
  });

  // Guarantee: the same between two attempts, and before the first.
  test("ends a pause, and sends nothing when it came first", async () => {
    const { time, calls, ask } = setUp([failing(500)]);
    const stop = new AbortController();
    const call = ask({ signal: stop.signal });
    time.after(50, () => stop.abort(new Error("closed")));
    await expect(time.run(call)).rejects.toThrow("closed");
    await expect(time.run(ask({ signal: stop.signal }))).rejects.toThrow("closed");
    expect(calls).toHaveLength(1);
  });
});

describe("headers", () => {
  // Guarantee: the two ways to authenticate are never mixed.
  test("a wallet key goes alone", async () => {
    const { time, calls, ask } = setUp([OK]);
    await time.run(ask());
    expect([...(calls[0]?.headers.keys() ?? [])].sort()).toEqual(["accept", "api-key"]);
    expect(calls[0]?.headers.get("Api-Key")).toBe("gk_test_1");
  });

  // Guarantee: an app id always comes with its client id; a body says what it is.
  test("an app goes with its client id, and the version where one is set", async () => {
    const { time, calls, ask } = setUp([OK], {
      credentials: { appId: "app_1", clientId: "c_1" },
      serviceVersion: "2026-02-19.preview",
    });
    await time.run(ask({ body: { a: 1 } }));
    expect(Object.fromEntries(calls[0]?.headers ?? [])).toEqual({
      accept: "application/json",
      "app-id": "app_1",
      "client-id": "c_1",
      "content-type": "application/json",
      "service-version": "2026-02-19.preview",
    });
    expect(calls[0]?.path).toBe("/v1/thing");
    expect(calls[0]?.body).toEqual({ a: 1 });
  });
});
