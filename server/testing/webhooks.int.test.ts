import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { call, until } from "./api.ts";
import { refuse, take, verified } from "./receivers.ts";
import { hooks } from "./webhooks.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let server: TestServer;
let shop: ReturnType<typeof hooks>;

beforeAll(async () => {
  world = await createTestWorld();
  server = await world.startServer({ env: { FLORIN_SETTLEMENT_BATCH_S: "2" } });
  shop = hooks(world, () => server.baseUrl);
});
afterAll(() => world?.stop());
afterEach(() => shop.clear());

const NOT_FOUND = { status: 404, body: { code: "not_found" } };

// Guarantee: a merchant's program gets each event of a payment once, in order, signed, and saying where the payment stands.
test("a paid payment is told event by event", async () => {
  const program = await shop.receiver();
  const { secret } = await shop.endpoint(program.url);
  const id = await shop.created();
  await shop.api.pay(id, world.buyer("usdc").key, "USDC");
  const told = await until(
    async () => program.about(id),
    (events) => events.some(({ type }) => type === "payment.settled"),
  );
  expect(told.map(({ type }) => type)).toEqual([
    "payment.created",
    "payment.processing",
    "payment.succeeded",
    "payment.settled",
  ]);
  for (const one of program.received) {
    expect(verified(secret, one)).toEqual(one.body);
    for (const name of ["id", "timestamp", "signature"])
      expect(one.headers[`svix-${name}`]).toBe(one.headers[`webhook-${name}`]);
    expect(one.headers["webhook-id"]).toBe(one.body.id);
    expect(one.headers["webhook-signature"]).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
  }
  const [first, , , last] = told;
  expect(first).toMatchObject({
    id: expect.stringMatching(/^evt_[0-9A-Z]+$/),
    api_version: "2026-05-18",
    live: false,
    data: {
      payment_state_version: 0,
      status: "requires_action",
      amount: { unit: "iso4217/USD", value: "1250" },
      ...{
        processing: null,
        success: null,
        failed: null,
        cancelled: null,
        expired: null,
        settled: null,
      },
    },
  });
  const { body: details } = await shop.api.details(id);
  const unit = `caip19/${world.asset("usdc")}`;
  expect(last.data).toMatchObject({
    payment_id: id,
    status: "succeeded",
    payment_state_version: 2,
    processing: {
      option_amount: { unit, value: "12500000" },
      fee: { kind: "base_plus_percent", total_amount: { unit, value: "50000" } },
      settlement_amount: { unit, value: "12450000" },
      buyer_caip10: `eip155:31337:${world.buyer("usdc").address.toLowerCase()}`,
      chain_caip2: "eip155:31337",
    },
    success: { tx_id: details.info.txId },
    settled: { tx_id: details.settlement.successful.txId, amount: { unit, value: "12450000" } },
    ...{ failed: null, cancelled: null, expired: null },
  });
  for (const time of [
    last.created_at,
    last.data.created_at,
    last.data.expires_at,
    last.data.processing.processing_at,
    last.data.success.succeeded_at,
    last.data.settled.settled_at,
  ])
    expect(new Date(time).toISOString()).toBe(time);
  expect(await shop.feed()).toEqual(expect.arrayContaining(told));
});

// Guarantee: an event holds what its merchant knows anyway: no key, no secret, no data a buyer gave.
test("the members of an event", async () => {
  const program = await shop.receiver();
  await shop.endpoint(program.url);
  const id = await shop.cancelled();
  const [, told] = await until(
    async () => program.about(id),
    (events) => events.length === 2,
  );
  const stages = ["cancelled", "expired", "failed", "processing", "settled", "success"];
  expect(Object.keys(told.data).toSorted()).toEqual(
    [
      ...["payment_id", "merchant_id", "live", "payment_state_version", "reference_id", "status"],
      ...["amount", "created_at", "expires_at", ...stages],
    ].toSorted(),
  );
  expect(told.data.cancelled).toMatchObject({ cancellation_reason: "cancelled_by_merchant" });
});

// Guarantee: a secret can be replaced without losing an event: for a day both secrets verify.
test("rotation signs twice, then once", async () => {
  const program = await shop.receiver();
  const { id, secret: old } = await shop.endpoint(program.url);
  const rotated = await shop.ask("POST", `/v1/webhook-endpoints/${id}/rotate-secret`);
  expect(rotated).toMatchObject({
    status: 201,
    body: { id, secret: expect.stringMatching(/^whsec_/) },
  });
  const { secret, oldSecretUntil } = rotated.body;
  expect(secret).not.toBe(old);
  expect(Math.abs(Date.parse(oldSecretUntil) - Date.now() - 24 * 3600_000)).toBeLessThan(60_000);
  await shop.created();
  await shop.settled();
  const [during] = program.received;
  if (during === undefined) throw new Error("nothing came");
  expect(String(during.headers["webhook-signature"]).split(" ")).toHaveLength(2);
  for (const one of [old, secret]) expect(verified(one, during)).toEqual(during.body);

  await world.db.query(`update webhook_endpoint set old_until = now() where id = $1`, [id]);
  await shop.created();
  await shop.settled();
  const after = program.received.at(-1);
  if (after === undefined) throw new Error("nothing came");
  expect(verified(secret, after)).toEqual(after.body);
  expect(() => verified(old, after)).toThrow("No matching signature");
});

// Guarantee: the secret is in one answer, sealed in the database, and a repeated call gets the same one without a second endpoint.
test("the secret is shown once and stored sealed", async () => {
  const program = await shop.receiver();
  const create = () =>
    call(server.baseUrl, "POST", "/v1/webhook-endpoints", {
      headers: { ...shop.api.merchantHeaders("intermediary"), "Idempotency-Key": "hook-1" },
      body: { url: program.url },
    });
  const made = await create();
  const again = await create();
  expect(made.body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(again.body).toEqual(made.body);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  const { body: list } = await shop.ask("GET", "/v1/webhook-endpoints");
  expect(list.data).toHaveLength(1);
  expect(JSON.stringify(list)).not.toContain('secret":"whsec');
  const clear = made.body.secret.slice("whsec_".length);
  for (const table of ["webhook_endpoint", "idempotency_key"]) {
    const rows = await world.db.query<{ text: string }>(`select t::text as text from ${table} t`);
    expect(rows.length).toBeGreaterThan(0);
    for (const { text } of rows) {
      expect(text).not.toContain(clear);
      expect(text).not.toContain(Buffer.from(made.body.secret).toString("hex"));
    }
  }
  await shop.created();
  await shop.settled();
  const [told] = program.received;
  expect(JSON.stringify(told?.headers)).not.toContain(clear);
  const attempts = await world.db.query<{ text: string }>(
    `select t::text as text from webhook_attempt t`,
  );
  expect(attempts.some(({ text }) => text.includes(clear))).toBe(false);
});

// Guarantee: an endpoint gets the topics it asked for, is changed and paused as its merchant says, and what was on its way waits out a pause.
test("topics, changes, a pause and the end of an endpoint", async () => {
  const [first, second] = [await shop.receiver(), await shop.receiver()];
  const { id } = await shop.endpoint(first.url, {
    description: "orders",
    topics: ["payment.cancelled", "payment.cancelled"],
  });
  const path = `/v1/webhook-endpoints/${id}`;
  expect((await shop.ask("GET", path)).body).toEqual({
    id,
    url: first.url,
    description: "orders",
    topics: ["payment.cancelled"],
    state: "enabled",
    createdAt: expect.stringMatching(/Z$/),
    oldSecretUntil: null,
  });
  const one = await shop.cancelled();
  await shop.settled();
  expect(first.received.map(({ body }) => body.type)).toEqual(["payment.cancelled"]);
  expect(first.about(one)).toHaveLength(1);

  first.behave(refuse(500));
  const two = await shop.cancelled();
  await until(
    async () => first.about(two),
    (events) => events.length > 0,
  );
  expect((await shop.ask("PATCH", path, { state: "disabled" })).body.state).toBe("disabled");
  await shop.cancelled();
  await shop.settled();
  // Five seconds later a second attempt may have come before the pause.
  const before = first.received.length;
  await shop.pass(3_600);
  const changed = await shop.ask("PATCH", path, {
    url: second.url,
    description: null,
    topics: [],
    state: "enabled",
  });
  expect(changed.body).toMatchObject({ url: second.url, description: null, topics: [] });
  await shop.settled();
  expect(second.received.map(({ body }) => body.data.payment_id)).toEqual([two]);
  expect(first.received).toHaveLength(before);

  for (let n = 0; n < 2; n++)
    expect(await shop.ask("DELETE", path)).toMatchObject({
      status: 200,
      body: { id, deleted: true },
    });
  await shop.cancelled();
  expect(await shop.ask("GET", path)).toMatchObject(NOT_FOUND);
  expect(await shop.ask("PATCH", path, { state: "enabled" })).toMatchObject(NOT_FOUND);
  expect((await shop.ask("GET", "/v1/webhook-endpoints")).body.data).toEqual([]);
});

// Guarantee: every attempt is shown with what came back, and what failed for good can be sent again.
test("deliveries, their attempts and sending again", async () => {
  const program = await shop.receiver(refuse(500, { "x-reason": "tired" }));
  const { id: endpointId } = await shop.endpoint(program.url, { topics: ["payment.created"] });
  const paymentId = await shop.created();
  // Events of earlier payments may still be on their way to every endpoint.
  const pending = await until(
    async () =>
      (await shop.deliveries(endpointId, "&state=pending")).find(
        (one: { paymentId: string }) => one.paymentId === paymentId,
      ),
    (one) => (one?.attemptCount ?? 0) >= 1,
  );
  const delivery = await shop.delivery(pending.id);
  expect(delivery).toMatchObject({
    ...{ endpointId, paymentId, eventType: "payment.created", redelivery: false, state: "pending" },
  });
  expect(delivery.attempts[0]).toMatchObject({
    number: 1,
    requestHeaders: { "webhook-id": pending.eventId },
    responseStatus: 500,
    responseHeaders: { "x-reason": "tired" },
    responseBody: "no",
    error: null,
  });
  const [{ left } = { left: 0 }] = await world.db.query<{ left: number }>(
    `select extract(epoch from due_at - clock_timestamp())::float8 as left from webhook_delivery
     where id = $1 and attempts = 1`,
    [pending.id],
  );
  // Five seconds after the first attempt; a slow machine may have made the second by now.
  expect(left).toBeLessThanOrEqual(5);
  for (let made = 1; made < 10; made++) {
    await shop.pass(25 * 3600);
    await until(
      () => shop.delivery(pending.id),
      ({ attemptCount }) => attemptCount > made,
    );
  }
  expect(await shop.delivery(pending.id)).toMatchObject({
    state: "failed",
    nextAttemptAt: null,
    endedAt: expect.stringMatching(/Z$/),
    attemptCount: 10,
  });
  const ours = () => program.received.filter(({ body }) => body.id === pending.eventId);
  expect(ours()).toHaveLength(10);
  expect(new Set(ours().map(({ text }) => text)).size).toBe(1);

  program.behave(take);
  const again = await shop.ask("POST", `/v1/webhook-deliveries/${pending.id}/redeliver`);
  expect(again).toMatchObject({
    status: 201,
    body: { endpointId, eventId: pending.eventId, redelivery: true, state: "pending" },
  });
  expect(again.body.id).not.toBe(pending.id);
  await until(
    () => shop.delivery(again.body.id),
    ({ state }) => state === "succeeded",
  );
  expect(ours()).toHaveLength(11);
  expect(await shop.delivery(pending.id)).toMatchObject({ state: "failed" });

  await shop.ask("PATCH", `/v1/webhook-endpoints/${endpointId}`, { state: "disabled" });
  expect(await shop.ask("POST", `/v1/webhook-deliveries/${pending.id}/redeliver`)).toMatchObject({
    status: 400,
    body: { code: "invalid_state" },
  });
});

// Guarantee: pages of deliveries hold each of them once, newest first.
test("pages of deliveries", async () => {
  const program = await shop.receiver();
  const { id } = await shop.endpoint(program.url);
  for (let n = 0; n < 5; n++) await shop.created();
  await shop.settled();
  const all = (await shop.deliveries(id)).map((one) => one.id);
  expect(all).toHaveLength(5);
  const paged: string[] = [];
  for (let cursor = ""; ; ) {
    const { body } = await shop.ask(
      "GET",
      `/v1/webhook-endpoints/${id}/deliveries?limit=2${cursor}`,
    );
    paged.push(...body.data.map((one: { id: string }) => one.id));
    if (body.nextCursor === null) break;
    cursor = `&cursor=${body.nextCursor}`;
  }
  expect(paged).toEqual(all);
  for (const cursor of ["dlv_NOTHING", "x", "%00"])
    expect(
      await shop.ask("GET", `/v1/webhook-endpoints/${id}/deliveries?cursor=${cursor}`),
    ).toMatchObject({ status: 400, body: { code: "invalid_params" } });
});

// Guarantee: the feed gives every event once and in order, page by page, and says where to go on.
test("the pull feed", async () => {
  for (let n = 0; n < 3; n++) await shop.cancelled();
  const one = await shop.cancelled();
  await shop.settled();
  const all = await shop.feed();
  expect(all.map(({ number }) => number)).toEqual(all.map((_, index) => index + 1));
  const paged = [];
  for (let after = 0; ; ) {
    const { body } = await shop.ask("GET", `/v1/events?after=${after}&limit=3`);
    paged.push(...body.data);
    after = body.nextAfter;
    if (!body.hasMore) break;
  }
  expect(paged).toEqual(all);
  const last = all.length;
  expect((await shop.ask("GET", `/v1/events?after=${last}`)).body).toEqual({
    data: [],
    nextAfter: last,
    hasMore: false,
  });
  const typed = (await shop.ask("GET", "/v1/events?type=payment.cancelled&limit=200")).body.data;
  expect(typed).toEqual(all.filter(({ type }) => type === "payment.cancelled"));
  const ofOne = (await shop.ask("GET", `/v1/events?paymentId=${one}`)).body.data;
  expect(ofOne.map(({ type }: { type: string }) => type)).toEqual([
    "payment.created",
    "payment.cancelled",
  ]);
  for (const query of ["after=-1", "after=x", "limit=0", "limit=201", "type=payment.stolen"])
    expect(await shop.ask("GET", `/v1/events?${query}`)).toMatchObject({
      status: 400,
      body: { code: "invalid_params" },
    });
});

// Guarantee: nobody sees, changes or is sent what belongs to another merchant, and foreign looks like missing.
test("merchants are apart", async () => {
  const [mine, theirs] = [await shop.receiver(), await shop.receiver()];
  const { id } = await shop.endpoint(mine.url);
  await shop.endpoint(theirs.url, {}, "direct");
  const my = await shop.created();
  const their = await shop.created("direct");
  await shop.settled();
  expect(mine.received.map(({ body }) => body.data.payment_id)).toEqual([my]);
  expect(theirs.received.map(({ body }) => body.data.payment_id)).toEqual([their]);
  const [delivery] = await shop.deliveries(id);
  for (const [method, path, body] of [
    ["GET", `/v1/webhook-endpoints/${id}`],
    ["PATCH", `/v1/webhook-endpoints/${id}`, { state: "disabled" }],
    ["DELETE", `/v1/webhook-endpoints/${id}`],
    ["POST", `/v1/webhook-endpoints/${id}/rotate-secret`],
    ["GET", `/v1/webhook-endpoints/${id}/deliveries`],
    ["GET", `/v1/webhook-deliveries/${delivery.id}`],
    ["POST", `/v1/webhook-deliveries/${delivery.id}/redeliver`],
    ["GET", "/v1/webhook-endpoints/whe_NOTHING"],
    ["GET", "/v1/webhook-endpoints/%00"],
    ["GET", "/v1/webhook-deliveries/dlv_NOTHING"],
    ["DELETE", "/v1/webhook-endpoints/..%2f"],
  ] as const)
    expect(await shop.ask(method, path, body, "direct"), `${method} ${path}`).toMatchObject(
      NOT_FOUND,
    );
  // A refusal that is repeated is the one that was stored, and nothing else.
  const rotate = () =>
    call(server.baseUrl, "POST", "/v1/webhook-endpoints/whe_NOTHING/rotate-secret", {
      headers: { ...shop.api.merchantHeaders("intermediary"), "Idempotency-Key": "rotate-1" },
      body: {},
    });
  const [refused, repeated] = [await rotate(), await rotate()];
  expect([repeated.status, repeated.text]).toEqual([404, refused.text]);
  expect((await shop.ask("GET", `/v1/webhook-endpoints/${id}`)).body.state).toBe("enabled");
  const foreign = (await shop.ask("GET", `/v1/events?paymentId=${my}`, undefined, "direct")).body;
  expect(foreign.data).toEqual([]);
  const merchantId = shop.api.merchantHeaders("direct")["Merchant-Id"];
  const feed = await shop.feed("direct");
  expect(feed.map(({ number }) => number)).toEqual(feed.map((_, index) => index + 1));
  expect(new Set(feed.map(({ data }) => data.merchant_id))).toEqual(new Set([merchantId]));
});

// Guarantee: what cannot be sent to is refused with words, and a merchant cannot make receivers without end.
test("bad endpoints", async () => {
  const create = (body: unknown) => shop.ask("POST", "/v1/webhook-endpoints", body);
  const url = "http://127.0.0.1:9/hook";
  for (const [body, code] of [
    [{}, "invalid_params"],
    [{ url: 7 }, "invalid_params"],
    [{ url: "hook" }, "params_validation"],
    [{ url: "file:///etc/passwd" }, "params_validation"],
    [{ url: "http://me:secret@127.0.0.1/" }, "params_validation"],
    [{ url: `http://127.0.0.1/${"x".repeat(2_048)}` }, "params_validation"],
    [{ url, topics: ["payment.stolen"] }, "invalid_params"],
    [{ url, topics: "payment.created" }, "invalid_params"],
    [{ url, description: "\u0000" }, "params_validation"],
  ] as const)
    expect(await create(body), JSON.stringify(body)).toMatchObject({ status: 400, body: { code } });
  for (let n = 0; n < 20; n++) expect((await create({ url })).status).toBe(201);
  expect(await create({ url })).toMatchObject({ status: 400, body: { code: "invalid_state" } });
  const [first] = (await shop.ask("GET", "/v1/webhook-endpoints")).body.data;
  expect(await shop.ask("PATCH", `/v1/webhook-endpoints/${first.id}`, {})).toMatchObject({
    status: 400,
    body: { code: "params_validation" },
  });
});

// Guarantee: even in the local world only this machine is reached, and the refusal is shown to the merchant.
test("private addresses are refused at delivery", async () => {
  const { id } = await shop.endpoint("http://169.254.169.254/latest/meta-data", {
    topics: ["payment.created"],
  });
  await shop.created();
  const [delivery] = await until(
    () => shop.deliveries(id),
    (all) => all[0]?.attemptCount >= 1,
  );
  const { attempts } = await shop.delivery(delivery.id);
  expect(attempts[0]).toMatchObject({
    responseStatus: null,
    error: expect.stringContaining("private IP address"),
  });
});

// Guarantee: outside the local world a receiver is a public HTTPS address, when it is made and when it is changed.
test("a server with other people's money", async () => {
  const staging = await world.startServer({
    env: { FLORIN_MODE: "staging", FLORIN_WORKER: "off" },
  });
  const there = hooks(world, () => staging.baseUrl);
  const create = (url: string) => there.ask("POST", "/v1/webhook-endpoints", { url });
  for (const url of ["http://shop.example.com/", "http://127.0.0.1:9/", "https://localhost/"])
    expect(await create(url)).toMatchObject({
      status: 400,
      body: { code: "params_validation", issues: [{ field: "url" }] },
    });
  const { status, body } = await create("https://shop.example.com/hook");
  expect(status).toBe(201);
  const path = `/v1/webhook-endpoints/${body.id}`;
  expect(await there.ask("PATCH", path, { url: "https://10.0.0.1/" })).toMatchObject({
    status: 400,
    body: { code: "params_validation" },
  });
});
