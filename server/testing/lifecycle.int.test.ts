import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, inToken, untilOffered } from "./api.ts";
import { changesNothing, DOORS, type Door, type Doors, openDoors, send } from "./doors.ts";
import { endsIn } from "./unguarded.ts";

let doors: Doors;
beforeAll(async () => {
  doors = await openDoors();
});
afterAll(async () => doors?.stop());

const shop = (flow: "intermediary" | "direct" = "intermediary") =>
  doors.at("front door").merchantHeaders(flow);
const wallet = () => doors.at("front door").gatewayHeaders;
const app = () => ({ "App-Id": doors.world.demo.gateway.appId, "Client-Id": "client-1" });

const post = (door: Door, path: string, headers: Record<string, string>, body?: unknown) =>
  send(doors.baseUrl(door), { method: "POST", path, headers, body });
const get = (door: Door, path: string, headers: Record<string, string>) =>
  send(doors.baseUrl(door), { path, headers });

const ORDER = { amount: { unit: "iso4217/USD", value: "1250" }, referenceId: "order-1" };

async function create(door: Door = "front door"): Promise<string> {
  const made = await post(door, "/v1/payments", shop(), ORDER);
  expect(made.status).toBe(201);
  return made.body.paymentId;
}

const topics = async (id: string) =>
  (
    await doors.world.db.query<{ topic: string }>(
      "select topic from outbox where payment_id = $1 order by sequence",
      [id],
    )
  ).map(({ topic }) => topic);

const refused = (answer: Answer, status: number, code: string, message: RegExp) => {
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect(answer.body.message).toMatch(message);
};

// Guarantee: the Payments API creates what the merchant path creates, and calls its status by its own name.
test.for(DOORS)("creation under /v1/payments, through the %s", async (door) => {
  const key = { ...shop(), "Idempotency-Key": `create through ${door}` };
  const made = await post(door, "/v1/payments", key, ORDER);
  expect(made.status).toBe(201);
  expect(made.body).toEqual({
    paymentId: expect.stringMatching(/^pay_[0-9A-HJKMNP-TV-Z]{26}$/),
    gatewayUrl: expect.stringContaining(made.body.paymentId),
    status: "requires_action",
    expiresAt: expect.any(Number),
    isFinal: false,
    pollInMs: 1000,
  });
  const again = await post(door, "/v1/payments", key, ORDER);
  expect([again.status, again.text]).toEqual([201, made.text]);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  const elsewhere = await post(door, "/v1/merchant/payment", key, ORDER);
  expect(elsewhere.status).toBe(201);
  expect(elsewhere.body.paymentId).not.toBe(made.body.paymentId);
  expect(elsewhere.body.status).toBe("pending");
});

// Guarantee: a merchant's held status read is answered by the change it waits for.
test.for(DOORS)("a held status read, through the %s", async (door) => {
  const id = await create(door);
  const path = `/v1/payments/${id}/status`;
  const now = await get(door, path, shop());
  expect(now.body).toEqual({
    status: "requires_action",
    isFinal: false,
    pollInMs: 1000,
    failureCode: null,
    info: null,
  });
  const held = get(door, `${path}?maxPollMs=20000`, shop());
  const cancelled = await post(door, `/v1/payments/${id}/cancel`, shop(), {});
  expect(cancelled.status).toBe(200);
  const woken = await held;
  expect(woken.body).toMatchObject({ status: "cancelled", isFinal: true, pollInMs: null });
});

// Guarantee: a merchant cancels what nobody has started to pay, once, and its event is written with it.
test.for(DOORS)("cancelled by the merchant, through the %s", async (door) => {
  const id = await create(door);
  const cancelled = await post(door, `/v1/payments/${id}/cancel`, shop());
  expect(cancelled.status).toBe(200);
  expect(cancelled.body).toEqual({
    paymentId: id,
    status: "cancelled",
    cancelledAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    cancelledReason: "cancelled_by_merchant",
  });
  expect(await topics(id)).toEqual(["payment.created", "payment.cancelled"]);
  const again = await changesNothing(
    doors.world.db,
    () => post(door, `/v1/payments/${id}/cancel`, shop()),
    id,
  );
  refused(again, 400, "invalid_state", /cancelled/);
  const merchantWord = await get(door, `/v1/merchant/payment/${id}/status`, shop());
  expect(merchantWord.body.status).toBe("failed");
});

// Guarantee: a repeated cancel under its key is answered as the first was, and cancels nothing else.
test("cancelled under a key", async () => {
  const id = await create();
  const other = await create();
  const keyed = { ...shop(), "Idempotency-Key": "one cancel" };
  const answers = await Promise.all(
    [1, 2, 3, 4, 5, 6].map(() => post("front door", `/v1/payments/${id}/cancel`, keyed)),
  );
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(answers[0]?.status).toBe(200);
  expect(answers.filter((one) => one.headers.get("idempotent-replayed") === "true").length).toBe(5);
  expect(await topics(id)).toEqual(["payment.created", "payment.cancelled"]);
  const second = await post("front door", `/v1/payments/${other}/cancel`, keyed);
  expect(second.body).toMatchObject({ paymentId: other, status: "cancelled" });
});

// Guarantee: a wallet cancels for its buyer, with a key or with an app's id.
test.for(DOORS)("cancelled by the buyer, through the %s", async (door) => {
  for (const headers of [wallet(), app()]) {
    const id = await create(door);
    const cancelled = await post(door, `/v1/gateway/payment/${id}/cancel`, headers, {});
    expect(cancelled.status).toBe(200);
    expect(cancelled.body).toMatchObject({
      status: "cancelled",
      cancelledReason: "cancelled_by_user",
    });
    expect(cancelled.headers.get("access-control-allow-origin")).toBe("*");
    const again = await post(door, `/v1/gateway/payment/${id}/cancel`, headers);
    refused(again, 400, "invalid_state", /cancelled/);
    const options = await doors.at(door).options(id, [`eip155:31337:0x${"11".repeat(20)}`]);
    expect([options.status, options.body.options]).toEqual([200, []]);
    expect(options.body.info.status).toBe("cancelled");
  }
});

// Guarantee: of a confirm and cancels at the same time exactly one wins, and the money follows it.
test("a confirm against cancels", async () => {
  const buyer = doors.world.buyer("everything");
  const front = doors.at("front door");
  for (let round = 0; round < 5; round++) {
    const id = await create();
    const accounts = [`eip155:31337:${buyer.address}`];
    const listed = await untilOffered(() => front.options(id, accounts));
    const option = listed.body.options.find(inToken("USDC"));
    const outputs = [];
    for (const action of option.actions) outputs.push(await front.execute(action, buyer.key));
    const [confirmed, byShop, byBuyer] = await Promise.all([
      front.confirm(id, option.id, outputs),
      post("front door", `/v1/payments/${id}/cancel`, shop()),
      post("front door", `/v1/gateway/payment/${id}/cancel`, wallet()),
    ]);
    const cancels = [byShop, byBuyer].filter(({ status }) => status === 200);
    const details = await front.details(id);
    expect(["processing", "cancelled"]).toContain(details.body.status);
    expect(cancels).toHaveLength(details.body.status === "cancelled" ? 1 : 0);
    if (details.body.status === "cancelled") expect(confirmed.body.status).not.toBe("processing");
    else expect(confirmed.body.status).toBe("processing");
  }
});

// Guarantee: what is being paid, is over, or belongs to somebody else is not cancelled.
test("what cannot be cancelled", async () => {
  const paid = await create();
  const confirmed = await doors
    .at("front door")
    .pay(paid, doors.world.buyer("everything").key, "USDC");
  expect(confirmed.body.status).toBe("processing");
  const tries = [
    post("front door", `/v1/payments/${paid}/cancel`, shop()),
    post("front door", `/v1/gateway/payment/${paid}/cancel`, wallet()),
  ];
  for (const answer of await Promise.all(tries))
    refused(answer, 400, "invalid_state", /processing/);

  const mine = await create();
  const foreign = await post("front door", `/v1/payments/${mine}/cancel`, shop("direct"));
  const missing = await post("front door", `/v1/payments/pay_none/cancel`, shop("direct"));
  refused(foreign, 404, "payment_not_found", /not found/);
  const strip = ({ text, body }: Answer) => text.replaceAll(body.requestId, "");
  expect(strip(foreign)).toBe(strip(missing));

  const id = await create();
  await endsIn(doors.world.db, id);
  const over = await get("front door", `/v1/payments/${id}/status`, shop());
  expect(over.body.status).toBe("requires_action");
  const late = await changesNothing(
    doors.world.db,
    () => post("front door", `/v1/payments/${id}/cancel`, shop()),
    id,
  );
  refused(late, 400, "invalid_state", /expired/);
});
