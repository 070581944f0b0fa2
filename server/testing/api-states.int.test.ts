import { createWalletClient, type Hex, parseAbi } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { getGatewayPaymentStatus } from "#server/contract/gateway.ts";
import { createStore } from "#server/db/store.ts";
import type { PaymentEventType } from "#server/domain/payment/state.ts";
import { asOwner, type FeedName, fundGas, mint } from "#server/sandbox/deploy.ts";
import { minedOn, nodeTransport } from "#server/sandbox/node-rpc.ts";
import { type Action, type Answer, until } from "./api.ts";
import {
  changesNothing,
  DOORS,
  type Door,
  type Doors,
  expectRefusal,
  openDoors,
  type Refusal,
  send,
} from "./doors.ts";
import { endsIn, unguarded } from "./unguarded.ts";

const CHAIN = "eip155:31337";
const HASH = `0x${"ab".repeat(32)}`;
const EXPIRED = { status: 410, code: "payment_expired" };
const QUOTE = { status: 409, code: "quote_expired" };
const inState = (state: string): Refusal => ({
  status: 400,
  code: "invalid_state",
  message: new RegExp(`\\b${state}\\b`),
});

type Option = {
  id: string;
  amount: { value: string; display: { assetSymbol: string } };
  actions: Action[];
  expiresAt: number | null;
};
type Buyer = { key: Hex; address: Hex };
/** A payment with the two options it was offered. */
type Offer = { id: string; buyer: Buyer; usdc: Option; usdt: Option };

let doors: Doors;
/** Payments whose window is closed while the tests run: `late` untouched, `taken` confirmed, `ended` failed. */
let closing: { late: Offer; taken: Offer; ended: Offer };
/** Calls that ask to be held for longer than anybody is, one for each door. */
let longest: Promise<{ tookMs: number; answer: Answer }[]>;

const now = () => Math.floor(Date.now() / 1000);
const chain = () => {
  const found = doors.world.world.chains[0];
  if (found === undefined) throw new Error("no chain");
  return { url: found.anvil.rpcUrl, ...found.deployment };
};
const rich = () => doors.world.buyer("everything");
const accountOf = ({ address }: { address: string }) => `${CHAIN}:${address}`;
const symbolOf = (option: Option) => option.amount.display.assetSymbol;

/** A buyer with an exact amount of USDC. */
async function newBuyer(usdc: bigint): Promise<Buyer> {
  const key = generatePrivateKey();
  const { address } = privateKeyToAccount(key);
  await fundGas(chain().url, address);
  await mint(chain().url, chain(), "usdc", address, usdc);
  return { key, address };
}

async function create(
  options: Parameters<ReturnType<Doors["at"]>["create"]>[0] = {},
): Promise<string> {
  const answer = await doors.at("front door").create(options);
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.paymentId;
}

/** What an account is offered for a payment, by token. */
async function listed(door: Door, id: string, buyer: Buyer): Promise<Record<string, Option>> {
  const answer = await doors.at(door).options(id, [accountOf(buyer)]);
  if (answer.status !== 200) throw new Error(answer.text);
  return Object.fromEntries(answer.body.options.map((one: Option) => [symbolOf(one), one]));
}

/** Asks for an account's options until one is in USDC: a chain that is too busy to answer offers nothing at that moment. */
async function offeredDollars(door: Door, id: string, buyer: Buyer) {
  const { USDC, USDT } = await until(
    () => listed(door, id, buyer),
    (found) => found.USDC !== undefined,
  );
  if (USDC === undefined) throw new Error("not offered");
  return { USDC, USDT };
}

async function offered(options: Parameters<typeof create>[0] = {}): Promise<Offer> {
  const id = await create(options);
  const { USDC: usdc, USDT: usdt } = await offeredDollars("front door", id, rich());
  if (usdt === undefined) throw new Error("not offered both tokens");
  return { id, buyer: rich(), usdc, usdt };
}

const signed = async (option: Option, { key }: Buyer): Promise<string> => {
  const action = option.actions.at(-1);
  if (action === undefined) throw new Error("no action");
  return doors.at("front door").execute(action, key);
};
/** Confirms the one-action option of a payment with the payer's own signature. */
const confirm = async (door: Door, id: string, option: Option, buyer: Buyer, maxPollMs = 0) =>
  doors.at(door).confirm(id, option.id, [await signed(option, buyer)], maxPollMs);
const fetched = (door: Door, id: string, option: Option) =>
  send(doors.baseUrl(door), {
    method: "POST",
    path: `/v1/gateway/payment/${id}/fetch`,
    headers: doors.at(door).gatewayHeaders,
    body: { optionId: option.id, data: "" },
  });
const options = (door: Door, id: string, ...buyers: Buyer[]) =>
  doors.at(door).options(id, buyers.map(accountOf));

/** Makes a call that must be refused and change nothing; with `about` nothing of one payment, while others go on. */
async function refuses(call: () => Promise<Answer>, refusal: Refusal, about = ""): Promise<Answer> {
  const answer = await changesNothing(doors.world.db, call, about);
  expectRefusal(answer, "/v1/gateway/", refusal);
  return answer;
}

/** Moves a payment as the service itself would. */
async function move(id: string, type: PaymentEventType): Promise<void> {
  await createStore(
    doors.world.db,
    async () => undefined,
    async () => null,
  ).transaction(async (tx) => {
    const payment = await tx.lockPayment(id);
    if (payment === null) throw new Error("no payment");
    const changed = await tx.change(payment, { type, body: {} });
    if (changed.kind === "refused") throw new Error(`${type} was refused`);
  });
}

/** A poll that is held for 20 seconds: what is answered before it, though asked later, did not wait that long. */
async function longHold(door: Door) {
  const id = await create();
  let isHeld = true;
  const answer = doors
    .at(door)
    .status(id, 20_000)
    .finally(() => {
      isHeld = false;
    });
  return {
    isHeld: () => isHeld,
    end: async () => {
      await move(id, "cancelled_by_merchant");
      await answer;
    },
  };
}

async function timed(call: () => Promise<Answer>): Promise<{ tookMs: number; answer: Answer }> {
  const start = performance.now();
  const answer = await call();
  return { tookMs: performance.now() - start, answer };
}

beforeAll(async () => {
  doors = await openDoors();
  const waiting = await create();
  longest = Promise.all(
    DOORS.map((door) => timed(() => doors.at(door).status(waiting, 999_999_999))),
  );
  const [late, taken, ended] = await Promise.all([offered(), offered(), offered()]);
  closing = { late, taken, ended };
  expect((await confirm("front door", taken.id, taken.usdc, taken.buyer)).status).toBe(200);
  const failed = await doors.at("front door").confirm(ended.id, ended.usdc.id, [HASH]);
  expect(failed.body.status).toBe("failed");
});
afterAll(() => doors?.stop());

describe("one confirm", () => {
  const attempts = (id: string) =>
    doors.world.db.query<Record<string, number>>(
      `select (select count(*)::int from attempt where payment_id = $1) as attempts,
         (select count(*)::int from auth_use where payment_id = $1) as authorizations,
         (select count(*)::int from payment_event where payment_id = $1) as events,
         (select count(*)::int from pgboss.job where data->>'paymentId' = $1) as jobs`,
      [id],
    );
  const ONCE = [{ attempts: 1, authorizations: 1, events: 1, jobs: 1 }];

  // Guarantee: a confirm that is sent many times at once is one attempt, and everybody is told the same.
  test("the same confirm six times at once, through both doors", async () => {
    const { id, usdc, buyer } = await offered();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        confirm(at % 2 === 0 ? "front door" : "Next", id, usdc, buyer),
      ),
    );
    for (const { status, body } of answers)
      expect([status, body]).toEqual([
        200,
        { status: "processing", isFinal: false, pollInMs: 1000, info: null },
      ]);
    expect(await attempts(id)).toEqual(ONCE);
    racing.push(id);
  });

  // Guarantee: of two options confirmed at once one is taken and the other is refused, never both.
  test("two options three times each at once", async () => {
    const { id, usdc, buyer } = await offered();
    const second = doors.world.buyer("usdc");
    const { USDC } = await offeredDollars("Next", id, second);
    const answers = await Promise.all(
      [0, 1, 2].flatMap((at) => [
        confirm(at === 0 ? "front door" : "Next", id, usdc, buyer),
        confirm(at === 0 ? "Next" : "front door", id, USDC, second),
      ]),
    );
    const taken = answers.filter(({ status }) => status === 200);
    expect(taken.length).toBe(3);
    for (const answer of answers.filter(({ status }) => status !== 200))
      expectRefusal(answer, "/v1/gateway/", inState("processing"));
    expect(await attempts(id)).toEqual(ONCE);
    racing.push(id);
  });

  // Guarantee: a wallet may repeat its confirm as often as it likes, with whatever body; nothing is handed in twice.
  test.for(DOORS)("repeated with other results, through the %s", async (door) => {
    const { id, usdc, buyer } = await offered();
    expect((await confirm("front door", id, usdc, buyer)).status).toBe(200);
    const again = (results: unknown[], more: object = {}) =>
      changesNothing(doors.world.db, () =>
        send(doors.baseUrl(door), {
          method: "POST",
          path: `/v1/gateway/payment/${id}/confirm`,
          headers: doors.at(door).gatewayHeaders,
          body: { optionId: usdc.id, results, ...more },
        }),
      );
    const wrong = `0x${"11".repeat(64)}1b`;
    for (const answer of [
      await again([{ type: "walletRpc", data: [await signed(usdc, buyer)] }]),
      await again([{ type: "walletRpc", data: [wrong] }]),
      await again([{ type: "walletRpc", data: [HASH] }]),
      await again([], { collectedData: { fields: [] } }),
    ])
      expect([answer.status, answer.body.status]).toEqual([200, "processing"]);
  });
});
/** Payments confirmed in a race: each must end with one capture. */
const racing: string[] = [];

describe("money and prices", () => {
  // Guarantee: what an account cannot pay is not offered, and a balance that went away is a refusal that can be mended.
  test("insufficient funds", async () => {
    for (const door of DOORS)
      expect(await listed(door, await create(), doors.world.buyer("empty"))).toEqual({});
    const buyer = await newBuyer(12_499_999n);
    const id = await create();
    expect(await listed("front door", id, buyer)).toEqual({});
    await mint(chain().url, chain(), "usdc", buyer.address, 1n);
    const { USDC } = await offeredDollars("front door", id, buyer);
    const wallet = createWalletClient({
      account: privateKeyToAccount(buyer.key),
      transport: nodeTransport(chain().url),
    });
    const spent = await wallet.writeContract({
      address: chain().usdc,
      abi: parseAbi(["function transfer(address to, uint256 value)"]),
      functionName: "transfer",
      args: [rich().address, 1n],
      chain: null,
    });
    await minedOn(chain().url, spent);
    await until(
      () => listed("front door", id, buyer),
      (found) => found.USDC === undefined,
    );
    for (const door of DOORS)
      await refuses(() => confirm(door, id, USDC, buyer), {
        status: 422,
        code: "params_validation",
        message: /insufficient funds/,
      });
    await mint(chain().url, chain(), "usdc", buyer.address, 1n);
    expect((await confirm("Next", id, USDC, buyer)).body.status).toBe("processing");
    racing.push(id);
  });

  // Guarantee: a listed account gets nowhere, drags the whole call with it, and is not told why.
  test("a sanctioned account", async () => {
    const buyer = await newBuyer(100_000_000n);
    const list = (is: boolean) =>
      asOwner(
        chain().url,
        chain(),
        chain().sanctions,
        "function setListed(address account, bool listed)",
        [buyer.address, is],
      );
    const id = await create();
    const { USDC } = await offeredDollars("front door", id, buyer);
    await list(true);
    const refusal = { status: 451, code: "sanctioned_user" };
    for (const door of DOORS) {
      await until(
        () => options(door, id, buyer),
        ({ status }) => status === 451,
      );
      const answers = [
        await refuses(() => options(door, id, buyer), refusal),
        await refuses(() => options(door, id, rich(), buyer), refusal),
        await refuses(() => fetched(door, id, USDC), refusal),
        await refuses(() => confirm(door, id, USDC, buyer), refusal),
      ];
      for (const { body } of answers) {
        expect(body.message).toBe(answers[0]?.body.message);
        expect(Object.keys(body).toSorted()).toEqual(["code", "message", "requestId"]);
        expect(body.message).not.toMatch(/sanction|list|ofac|screen|0x|account/i);
      }
    }
    await list(false);
    for (const door of DOORS)
      await until(
        () => options(door, id, buyer),
        ({ status }) => status === 200,
      );
    expect((await confirm("Next", id, USDC, buyer)).body.status).toBe("processing");
    racing.push(id);
  });

  const feed = (name: FeedName, answer: bigint, updatedAt = 0) =>
    asOwner(
      chain().url,
      chain(),
      chain().feeds[name],
      "function setAnswer(int256 answer, uint256 updatedAt)",
      [answer, BigInt(updatedAt)],
    );
  const seen = (door: Door, id: string, done: (found: Record<string, Option>) => boolean) =>
    until(() => listed(door, id, rich()), done);

  // Guarantee: a token whose price is unknown or off its peg is neither offered nor taken; the other tokens are not affected.
  test.for([
    ["a feed two hours old", () => feed("USDC / USD", 100_000_000n, now() - 7_200)],
    ["a token 2 % below its peg", () => feed("USDC / USD", 98_000_000n)],
    ["a token 2 % above its peg", () => feed("USDC / USD", 102_000_000n)],
    ["a price of 0", () => feed("USDC / USD", 0n)],
    ["a negative price", () => feed("USDC / USD", -100_000_000n)],
  ] as const)("%s", async ([, spoil]) => {
    const payments = await Promise.all(DOORS.map(async (door) => ({ door, ...(await offered()) })));
    await spoil();
    for (const { door, id, usdc, buyer } of payments) {
      // Of a chain that is too busy to answer neither would be there.
      const left = await seen(
        door,
        id,
        ({ USDC, USDT }) => USDC === undefined && USDT !== undefined,
      );
      expect(Object.keys(left)).toEqual(["USDT"]);
      await refuses(() => confirm(door, id, usdc, buyer), QUOTE);
    }
    await feed("USDC / USD", 99_600_000n);
    for (const { door, id, usdc, buyer } of payments) {
      // Inside its band a token counts one to one, and the offer of before still stands.
      const back = await seen(door, id, (found) => found.USDC !== undefined);
      expect([back.USDC?.id, back.USDC?.amount.value]).toEqual([usdc.id, "12500000"]);
      expect((await confirm(door, id, usdc, buyer)).body.status).toBe("processing");
    }
  });

  // Guarantee: a quote holds while the market moves less than 1 % against the merchant, and not beyond.
  test("a priced option when the price moves", async () => {
    const euro = 108_000_000n;
    const make = async (door: Door) => ({ door, ...(await offered({ unit: "iso4217/EUR" })) });
    const [first, second, third] = await Promise.all([
      make("front door"),
      make("Next"),
      make("Next"),
    ]);
    if (first === undefined || second === undefined || third === undefined) throw new Error("none");
    // 12.50 EUR at 1.08 USD.
    expect(first.usdc.amount.value).toBe("13500000");
    const lasts = (first.usdc.expiresAt ?? 0) - now();
    expect(lasts).toBeGreaterThan(280);
    expect(lasts).toBeLessThanOrEqual(300);
    await feed("EUR / USD", (euro * 1020n) / 1000n);
    for (const { door, id, usdc, buyer } of [first, second]) {
      const dearer = await seen(door, id, (found) => found.USDC?.amount.value === "13770000");
      expect(dearer.USDC?.id).not.toBe(usdc.id);
      await refuses(() => confirm(door, id, usdc, buyer), QUOTE);
    }
    await feed("EUR / USD", (euro * 1005n) / 1000n);
    await seen("front door", first.id, (found) => found.USDC?.amount.value === "13567500");
    expect((await confirm("front door", first.id, first.usdc, rich())).body.status).toBe(
      "processing",
    );
    await feed("EUR / USD", (euro * 900n) / 1000n);
    await seen("Next", second.id, (found) => found.USDC?.amount.value === "12150000");
    expect((await confirm("Next", second.id, second.usdc, rich())).body.status).toBe("processing");

    // Without a price nothing can be created or offered in that currency, and the caller may come back.
    await feed("EUR / USD", euro, now() - 7_200);
    for (const door of DOORS) {
      await seen(door, third.id, (found) => Object.keys(found).length === 0);
      await refuses(() => confirm(door, third.id, third.usdc, rich()), QUOTE);
      const answer = await changesNothing(doors.world.db, () =>
        doors.at(door).create({ unit: "iso4217/EUR" }),
      );
      expectRefusal(answer, "/v1/merchant/", { status: 503, code: "internal_error" });
      expect(answer.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    }
    await feed("EUR / USD", euro);
    for (const door of DOORS) await seen(door, third.id, (found) => found.USDC !== undefined);
  });

  // Guarantee: what can be signed for an hour only is offered for an hour, and says so; asked again it is the same offer.
  test("an offer of a payment that lives for a week", async () => {
    const now = () => Math.floor(Date.now() / 1000);
    const before = now();
    const { id, usdc, buyer } = await offered({ expiresAt: before + 7 * 24 * 3600 });
    expect(usdc.expiresAt).toBeGreaterThanOrEqual(before + 3600);
    expect(usdc.expiresAt).toBeLessThanOrEqual(now() + 3600);
    expect((await listed("front door", id, buyer)).USDC?.id).toBe(usdc.id);
    expect((await confirm("front door", id, usdc, buyer)).body.status).toBe("processing");
    expect((await offered()).usdc.expiresAt).toBeNull();
  });

  // Guarantee: a quote that is over is refused with its own code, and asking again gives a new one that is taken.
  test.for(DOORS)("a quote that is over, through the %s", async (door) => {
    const { id, usdc, buyer } = await offered({ unit: "iso4217/GBP" });
    // Five minutes pass for this option alone: its row is otherwise never changed.
    await unguarded(
      doors.world.db,
      `update payment_option set expires_at = now() - interval '1 second', fingerprint = 'old' where id = $1`,
      [usdc.id],
    );
    await refuses(() => fetched(door, id, usdc), QUOTE);
    await refuses(() => confirm(door, id, usdc, buyer), QUOTE);
    const { USDC } = await offeredDollars(door, id, buyer);
    expect(USDC.id).not.toBe(usdc.id);
    expect((await fetched(door, id, USDC)).body.actions).toEqual(USDC.actions);
    expect((await confirm(door, id, USDC, buyer)).body.status).toBe("processing");
  });
});

describe("held calls", () => {
  // Guarantee: a call is held no longer than was asked.
  test.for(DOORS)("until the time asked for, through the %s", async (door) => {
    const id = await create();
    const { id: taken, usdc, buyer } = await offered();
    const other = await longHold(door);
    const { tookMs, answer } = await timed(() => doors.at(door).status(id, 700));
    expect([answer.status, answer.body.status]).toEqual([200, "requires_action"]);
    expect(tookMs).toBeGreaterThan(650);
    const confirmed = await timed(() => confirm(door, taken, usdc, buyer, 700));
    expect([confirmed.answer.status, confirmed.answer.body.status]).toEqual([200, "processing"]);
    expect(confirmed.tookMs).toBeGreaterThan(650);
    expect(other.isHeld()).toBe(true);
    await other.end();
  });

  // Guarantee: a change answers every held call at once, whichever process it was held by and made in.
  test("until something changes", async () => {
    const id = await create();
    const others = await Promise.all(DOORS.map(longHold));
    const held = DOORS.flatMap((door) => [
      doors.at(door).status(id, 20_000),
      doors.at(door).status(id, 20_000),
    ]);
    // By the time this one is answered, the others are held.
    await doors.at("front door").status(id, 500);
    await move(id, "cancelled_by_merchant");
    for (const { status, body } of await Promise.all(held))
      expect([status, body.status, body.isFinal]).toEqual([200, "cancelled", true]);
    expect(others.map(({ isHeld }) => isHeld())).toEqual([true, true]);
    for (const { end } of others) await end();
  });
  test.for(DOORS)("not at all when there is nothing to wait for, through the %s", async (door) => {
    const id = await create();
    const other = await longHold(door);
    expect((await doors.at(door).status(id, 0)).status).toBe(200);
    await move(id, "cancelled_by_wallet");
    const answer = await doors.at(door).status(id, 20_000);
    expect([answer.status, answer.body.isFinal]).toEqual([200, true]);
    const missing = await doors.at(door).status("pay_0", 20_000);
    expectRefusal(missing, "/v1/gateway/", { status: 404, code: "payment_not_found" });
    expect(other.isHeld()).toBe(true);
    await other.end();
  });
});

describe("states", () => {
  // Guarantee: in every state options, fetch and confirm answer what the protocol's clients are built on.
  test.for(DOORS)("processing, failed and cancelled, through the %s", async (door) => {
    const processing = await offered();
    await confirm("front door", processing.id, processing.usdc, processing.buyer);
    const failed = await offered();
    await doors.at("front door").confirm(failed.id, failed.usdc.id, [HASH]);
    const cancelled = await offered();
    await move(cancelled.id, "cancelled_by_merchant");
    for (const [state, offer] of Object.entries({ processing, failed, cancelled })) {
      const { id, usdc, usdt, buyer } = offer;
      const list = await changesNothing(doors.world.db, () => options(door, id, buyer));
      expect([list.status, list.body.options, list.body.info.status]).toEqual([200, [], state]);
      await refuses(() => fetched(door, id, usdc), inState(state));
      await refuses(() => fetched(door, id, usdt), inState(state));
      await refuses(() => doors.at(door).confirm(id, usdt.id, [HASH, HASH]), inState(state));
      await refuses(() => doors.at(door).confirm(id, "opt_none", []), inState(state));
      if (state === "cancelled")
        await refuses(() => confirm(door, id, usdc, buyer), inState(state));
      else {
        const again = await changesNothing(doors.world.db, () => confirm(door, id, usdc, buyer));
        expect([again.status, again.body.status, again.body.isFinal]).toEqual([
          200,
          state,
          state === "failed",
        ]);
      }
    }
  });

  // Guarantee: when the window is over nothing new begins, whether or not the payment was closed yet; what was accepted before goes on.
  const isOver = async (door: Door, status: string, taken: string) => {
    const { late, taken: accepted, ended } = closing;
    await refuses(() => options(door, late.id, late.buyer), EXPIRED, late.id);
    await refuses(() => fetched(door, late.id, late.usdc), EXPIRED, late.id);
    await refuses(() => confirm(door, late.id, late.usdc, late.buyer), EXPIRED, late.id);
    await refuses(() => doors.at(door).confirm(late.id, late.usdc.id, [HASH]), EXPIRED, late.id);
    await refuses(() => doors.at(door).confirm(late.id, "opt_none", []), EXPIRED, late.id);
    expect((await doors.at(door).status(late.id)).body).toMatchObject({
      status,
      isFinal: status === "expired",
    });
    expect((await doors.at(door).details(late.id)).body).toMatchObject({
      status,
      info: null,
      settlement: null,
      failureCode: null,
    });

    const again = await confirm(door, accepted.id, accepted.usdc, accepted.buyer);
    expect([again.status, again.body.status]).toEqual([200, taken]);
    expectRefusal(
      await doors.at(door).confirm(accepted.id, accepted.usdt.id, [HASH, HASH]),
      "/v1/gateway/",
      inState(taken),
    );
    const failed = await doors.at(door).confirm(ended.id, ended.usdc.id, [HASH]);
    expect([failed.status, failed.body.status]).toEqual([200, "failed"]);
  };
  test("after the window, before anything closed the payment", async () => {
    for (const { id } of Object.values(closing)) await endsIn(doors.world.db, id);
    for (const door of DOORS) await isOver(door, "requires_action", "processing");
  });

  // Guarantee: nobody is held for longer than 25 seconds, whatever is asked.
  test("the longest hold", async () => {
    const read = getGatewayPaymentStatus.query.parse({ maxPollMs: "999999999" });
    expect(read.maxPollMs).toBe(25_000);
    for (const { tookMs, answer } of await longest) {
      expect([answer.status, answer.body.status]).toEqual([200, "requires_action"]);
      expect(tookMs).toBeGreaterThan(24_500);
    }
  });

  // From here on the worker runs: what was begun ends.
  test("after the window, when the payment is closed", async () => {
    await doors.startWorker();
    const { late, taken } = closing;
    await until(
      () => Promise.all([late, taken].map(({ id }) => doors.at("Next").status(id, 2_000))),
      (answers) => answers.every(({ body }) => body.isFinal),
    );
    for (const door of DOORS) await isOver(door, "expired", "succeeded");
    const info = (await doors.at("Next").options(taken.id, [accountOf(taken.buyer)])).body.info;
    expect(info).toMatchObject({
      status: "succeeded",
      buyer: { accountCaip10: accountOf(taken.buyer).toLowerCase() },
    });
  });

  test.for(DOORS)("succeeded, and a confirm that waits for it, through the %s", async (door) => {
    const { id, usdc, usdt, buyer } = await offered();
    const answer = await until(
      () => confirm(door, id, usdc, buyer, 24_000),
      ({ status, body }) => status !== 200 || body.isFinal,
    );
    expect([answer.status, answer.body.status, answer.body.isFinal]).toEqual([
      200,
      "succeeded",
      true,
    ]);
    expect(answer.body.info.txId).toMatch(/^0x[0-9a-f]{64}$/);
    expect(answer.body.info.optionAmount).toEqual(usdc.amount);
    const list = await options(door, id, buyer);
    expect([list.status, list.body.options, list.body.info.status]).toEqual([200, [], "succeeded"]);
    const again = await confirm(door, id, usdc, buyer);
    expect([again.status, again.body]).toEqual([200, answer.body]);
    for (const call of [
      () => fetched(door, id, usdc),
      () => doors.at(door).confirm(id, usdt.id, [HASH, HASH]),
    ])
      expectRefusal(await call(), "/v1/gateway/", inState("succeeded"));
    expect((await doors.at(door).details(id)).body).toMatchObject({
      status: "succeeded",
      failureCode: null,
    });
  });

  // Guarantee: whatever was sent how often, each payment was captured once.
  test("payments confirmed in a race are captured once", async () => {
    expect(racing.length).toBe(4);
    const rows = await until(
      () =>
        doors.world.db.query<{ status: string; captures: number }>(
          `select p.status, (select count(*)::int from capture c where c.payment_id = p.id) as captures
           from payment p where p.id = any($1)`,
          [racing],
        ),
      (all) => all.every(({ status }) => status !== "processing"),
    );
    expect(rows).toEqual(racing.map(() => ({ status: "succeeded", captures: 1 })));
    const twice = await doors.world.db.query(
      `select payment_id from capture group by 1 having count(*) > 1`,
      [],
    );
    expect(twice).toEqual([]);
  });
});
