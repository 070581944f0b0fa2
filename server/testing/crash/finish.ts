import { expect } from "vitest";
import type { ServerOptions, TestServer } from "../world.ts";
import { balances, expectBooks, expectNonces, expectOnce, settled } from "./checks.ts";
import { advanceOrLose, beginJourney, type Journey } from "./journey.ts";
import { ended, reached, type Stage } from "./stage.ts";

/** One payment, and what its parties held before it. */
export type Play = {
  journey: Journey;
  /** Waits for the payment's end and checks that everything moved exactly once. */
  expectOneOfEverything(): Promise<void>;
};

/** What a payment is made with: an EIP-3009 signature, or a permit after an approval on chain. */
export type PaidWith = "USDC" | "USDT";

/** Begins a payment of 12.50 USD, or of `value` cents, on the first chain; in USDC unless told otherwise. */
export async function beginPlay(
  stage: Stage,
  options: { value?: string; symbol?: PaidWith } = {},
): Promise<Play> {
  const journey = beginJourney(stage, options);
  const token = options.symbol === "USDT" ? "usdt" : "usdc";
  const before = await balances(stage, token, journey.buyer.address);
  const paid = BigInt(options.value ?? "1250") * 10_000n;
  // The demo merchant's 0.4 %, rounded up.
  const fee = (paid * 40n + 9_999n) / 10_000n;
  return {
    journey,
    async expectOneOfEverything() {
      await settled(stage, journey.id());
      await expectOnce(stage, journey.id());
      const after = await balances(stage, token, journey.buyer.address);
      expect(after).toEqual({
        buyer: before.buyer - paid,
        destination: before.destination + paid - fee,
        intermediary: before.intermediary + fee,
      });
      await expectNonces(stage);
      await expectBooks(stage);
    },
  };
}

/** Waits until a process died at its fail point, while blocks are made. */
export async function diedAt(stage: Stage, server: TestServer, point: string): Promise<void> {
  let dead = false;
  void server.exited.then(() => {
    dead = true;
  });
  await stage.mineUntil(
    async () => dead || server.output().slice(-1200),
    (seen) => seen === true,
    `the process dies at ${point}`,
  );
  await ended(server);
  expect(reached(server, point)).toMatch(new RegExp(`^failpoint ${point}:exit@\\d+$`));
}

/** Waits until a process is at a fail point that does not end it. */
export const waitsAt = (stage: Stage, server: TestServer, point: string): Promise<unknown> =>
  stage.wait(
    async () => reached(server, point) ?? server.output().slice(-1200),
    (seen) => seen.startsWith(`failpoint ${point}:`),
    `the process reaches ${point}`,
  );

/** A server without fail points does what is left to do, and the payment ends as if nothing had happened. */
export async function recover(
  stage: Stage,
  play: Play,
  options: ServerOptions = {},
): Promise<TestServer> {
  const server = await stage.start(options);
  await play.journey.advance(server.baseUrl);
  await play.expectOneOfEverything();
  return server;
}

/** Runs one payment into a fail point, starts again, and expects one of everything. */
export async function crashAt(
  stage: Stage,
  point: string,
  { nth = 1, symbol = "USDC" as PaidWith } = {},
): Promise<void> {
  const play = await beginPlay(stage, { symbol });
  const armed = await stage.start({ armed: `${point}:exit@${nth}` });
  await advanceOrLose(play.journey, armed.baseUrl);
  await diedAt(stage, armed, point);
  await recover(stage, play);
}

/** Waits until the payment's own transaction is in the nodes' hands. */
export async function sent(stage: Stage, play: Pick<Play, "journey">): Promise<string> {
  const rows = await stage.wait(
    () =>
      stage.rows<{ hash: string }>(
        `select t.hash from chain_intent i join chain_tx t on t.intent_id = i.id
         where i.payment_id = $1 and i.kind = 'capture' and i.state = 'broadcast' order by t.created_at desc`,
        [play.journey.id()],
      ),
    (found) => found.length > 0,
    "the capture is sent",
  );
  return rows[0]?.hash ?? "";
}

/** The payment's status in the database. */
export async function statusOf(stage: Stage, play: Pick<Play, "journey">): Promise<string> {
  const rows = await stage.rows<{ status: string }>(`select status from payment where id = $1`, [
    play.journey.id(),
  ]);
  return rows[0]?.status ?? "";
}

/** Waits, without making blocks, until the payment has a status. */
export const becomes = (stage: Stage, play: Play, status: string): Promise<string> =>
  stage.wait(
    () => statusOf(stage, play),
    (now) => now === status,
    `the payment is ${status}`,
  );

/** The payment ended without money: exactly one way, said once, and nothing of it on chain. */
export async function expectExpired(stage: Stage, id: string): Promise<void> {
  const [row] = await stage.rows(
    `select status, version, (select string_agg(to_s, ' ') from payment_event where payment_id = p.id) as path,
       (select string_agg(topic, ' ' order by sequence) from outbox where payment_id = p.id) as told,
       (select count(*) from attempt where payment_id = p.id) as attempts,
       (select count(*) from capture where payment_id = p.id) as captures,
       (select count(*) from chain_intent where payment_id = p.id) as intents
     from payment p where id = $1`,
    [id],
  );
  expect(row).toEqual({
    status: "expired",
    version: 1,
    path: "expired",
    told: "payment.created payment.expired",
    attempts: "0",
    captures: "0",
    intents: "0",
  });
}
