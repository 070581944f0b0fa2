import { expect } from "vitest";
import { asOwner } from "#server/sandbox/deploy.ts";
import { call } from "../api.ts";
import { balances, expectBooks, expectNonces, merchantOf, settled } from "./checks.ts";
import { becomes, beginPlay, diedAt, type Play, sent } from "./finish.ts";
import type { Stage } from "./stage.ts";

const PAID = 12_500_000n;
/** 12.50 USD less the demo merchant's 0.4 %. */
const NET = 12_450_000n;
const REFUNDED = 2_500_000n;

/** A payment of which a part is to go back to its buyer; the process died at `point` of that. */
async function refundUpTo(stage: Stage, point: string): Promise<Play> {
  const play = await beginPlay(stage);
  const armed = await stage.start({ armed: `${point}:exit@1` });
  await play.journey.advance(armed.baseUrl);
  await sent(stage, play);
  await stage.mine();
  await becomes(stage, play, "succeeded");
  const merchant = merchantOf(stage);
  const made = await call(armed.baseUrl, "POST", "/v1/refunds", {
    headers: { "Api-Key": merchant.apiKey, "Merchant-Id": merchant.id },
    body: { paymentId: play.journey.id(), kind: "execute", amount: REFUNDED.toString() },
  });
  expect([made.status, made.body.status]).toEqual([201, "pending"]);
  await diedAt(stage, armed, point);
  return play;
}

/** Waits for the end of everything, and expects that `refunded` went back, by one intent, and the rest was settled. */
async function expectEnd(
  stage: Stage,
  { journey }: Play,
  before: Awaited<ReturnType<typeof balances>>,
  end: { state: "succeeded" | "failed"; intent: string; refunded: bigint },
): Promise<void> {
  await settled(stage, journey.id());
  const found = await stage.rows(
    `select r.state, i.state as intent,
       (select count(*) from chain_intent where kind = 'refund' and payment_id = r.payment_id) as intents,
       (select string_agg(topic, ' ' order by sequence) from outbox o
        where o.payment_id = r.payment_id and topic like 'refund.%') as told,
       (select s.amount::text from settlement s where s.payment_id = r.payment_id and s.state = 'final') as settled
     from refund r join chain_intent i on i.id = r.intent_id where r.payment_id = $1`,
    [journey.id()],
  );
  const { state, intent, refunded } = end;
  expect(found).toEqual([
    {
      state,
      intent,
      intents: "1",
      told: `refund.created refund.${state}`,
      settled: (NET - refunded).toString(),
    },
  ]);
  expect(await balances(stage, "usdc", journey.buyer.address)).toEqual({
    buyer: before.buyer - PAID + refunded,
    destination: before.destination + NET - refunded,
    intermediary: before.intermediary + PAID - NET,
  });
  await expectNonces(stage);
  await expectBooks(stage);
}

const before = (stage: Stage) =>
  balances(stage, "usdc", stage.test.buyer("everything").address.toLowerCase());

/** A part of a payment goes back to its buyer; the process dies at a point of that, and the next one finishes it. */
export async function crashWhileRefunding(stage: Stage, point: string): Promise<void> {
  const held = await before(stage);
  const play = await refundUpTo(stage, point);
  await stage.start();
  await expectEnd(stage, play, held, { state: "succeeded", intent: "final", refunded: REFUNDED });
}

/** Between the nonce and the transaction the token puts the payer on its deny list: the nonce is filled, the money settled. */
export async function refundTurnsInvalid(stage: Stage): Promise<void> {
  const held = await before(stage);
  const listed = (on: boolean) =>
    stage.whileMining(() =>
      asOwner(
        stage.url,
        stage.deployment,
        stage.deployment.usdc,
        "function setBlacklisted(address account, bool listed)",
        [stage.test.buyer("everything").address, on],
      ),
    );
  const play = await refundUpTo(stage, "refund.after_reserve");
  await listed(true);
  try {
    await stage.start();
    await expectEnd(stage, play, held, { state: "failed", intent: "superseded", refunded: 0n });
  } finally {
    await listed(false);
  }
}
