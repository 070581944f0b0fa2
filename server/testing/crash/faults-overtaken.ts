import { expect } from "vitest";
import type { TestServer } from "../world.ts";
import { beginPlay, diedAt, type Play, recover, sent, statusOf, waitsAt } from "./finish.ts";
import { confirmWithRival } from "./front-run.ts";
import { neverStuck, release, runCli, type Stage } from "./stage.ts";

const registry = neverStuck;

/** Cents of a payment that succeeds only by the tag `safe`, some blocks after it was mined. */
const DEEP = { value: "2500" };

/** A payment in the hands of a worker of its own, which stands still where it is `armed`. */
async function inHandsOf(
  stage: Stage,
  armed: string,
  options: { value?: string } = {},
): Promise<{ play: Play; server: TestServer; worker: TestServer }> {
  const play = await beginPlay(stage, options);
  const server = await stage.start({ env: { FLORIN_WORKER: "off" }, registry });
  const worker = await stage.start({ entry: "worker", armed, registry });
  return { play, server, worker };
}

/** Another worker takes over from the one that stands still: the database ends the sessions that hold the leases. */
export async function takeOver(stage: Stage): Promise<void> {
  await stage.start({ entry: "worker", registry });
  const ended = await stage.rows(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'florin-lease' and datname = current_database()`,
  );
  expect(ended.length).toBeGreaterThan(0);
}

const movements = (stage: Stage, hash: string, state: string) =>
  stage.wait(
    () => stage.rows(`select 1 from movement where tx_hash = $1 and state = $2`, [hash, state]),
    ({ length }) => length > 0,
    `the transfer is ${state}`,
  );

/** The payment's transfer is mined, and read by then; once the payment is `status`, its block goes away. */
async function vanishes(
  stage: Stage,
  play: Play,
  { baseUrl }: TestServer,
  status: "processing" | "succeeded",
): Promise<void> {
  await play.journey.advance(baseUrl);
  const hash = await sent(stage, play);
  await stage.mine();
  await movements(stage, hash, status === "succeeded" ? "credited" : "seen");
  expect(await statusOf(stage, play)).toBe(status);
  await stage.rpc("anvil_reorg", [1, []]);
}

/** A worker is about to count a transfer as the payment; before it does, another one has read that the transfer is gone. */
export async function judgedAfterReorg(stage: Stage): Promise<void> {
  const points = { before: "succeed.before", after: "succeed.after_commit" };
  const { play, server, worker } = await inHandsOf(
    stage,
    `${points.before}:hang,${points.after}:hang`,
  );
  await play.journey.advance(server.baseUrl);
  const hash = await sent(stage, play);
  await stage.mine();
  await waitsAt(stage, worker, points.before);
  await takeOver(stage);
  await stage.rpc("anvil_reorg", [1, []]);
  await movements(stage, hash, "orphaned");
  release(worker);
  await waitsAt(stage, worker, points.after);
  const id = play.journey.id();
  expect(await stage.rows(`select 1 from capture where payment_id = $1`, [id])).toEqual([]);
  expect(await stage.rows(`select state from movement where tx_hash = $1`, [hash])).toEqual([
    { state: "orphaned" },
  ]);
  expect(await statusOf(stage, play)).toBe("processing");
  release(worker);
  await play.expectOneOfEverything();
}

const capturesOf = (stage: Stage, play: Play) =>
  stage.rows<{ status: string }>(
    `select status from capture where payment_id = $1 order by ordinal`,
    [play.journey.id()],
  );

/** A worker is about to take a success's capture back; before it does, another one has, and the payment was settled on the new fork. */
export async function takenBackTwice(stage: Stage): Promise<void> {
  const point = "orphan.before_commit";
  const { play, server, worker } = await inHandsOf(stage, `${point}:hang`);
  await vanishes(stage, play, server, "succeeded");
  await waitsAt(stage, worker, point);
  await takeOver(stage);
  await play.expectOneOfEverything();
  release(worker);
  await stage.looked(10);
  expect(await capturesOf(stage, play)).toEqual([{ status: "orphaned" }, { status: "finalized" }]);
  await play.expectOneOfEverything();
}

/** Killed before a capture is taken back whose block is gone. */
export async function crashWhileOrphaning(stage: Stage, point: string): Promise<void> {
  const play = await beginPlay(stage);
  const armed = await stage.start({ armed: `${point}:exit`, registry });
  await vanishes(stage, play, armed, "succeeded");
  await diedAt(stage, armed, point);
  await recover(stage, play, { registry });
}

/** A worker has found where the chain forked; before it goes back, another one has, and the payment was settled on the new fork. */
export async function rewoundTooLate(stage: Stage): Promise<void> {
  const points = { before: "rewind.before_commit", after: "rewind.after_commit" };
  const { play, server, worker } = await inHandsOf(
    stage,
    `${points.before}:hang,${points.after}:hang`,
    DEEP,
  );
  await vanishes(stage, play, server, "processing");
  await waitsAt(stage, worker, points.before);
  await takeOver(stage);
  await play.expectOneOfEverything();
  const kept = () =>
    stage.rows(`select id, state from movement where chain = $1 order by id`, [stage.caip2]);
  const before = await kept();
  release(worker);
  await waitsAt(stage, worker, points.after);
  expect(await kept()).toEqual(before);
  release(worker);
  await play.expectOneOfEverything();
}

/** Killed where a reorganisation is written down. */
export async function crashWhileRewinding(stage: Stage, point: string): Promise<void> {
  const play = await beginPlay(stage, DEEP);
  const armed = await stage.start({ armed: `${point}:exit`, registry });
  await vanishes(stage, play, armed, "processing");
  await diedAt(stage, armed, point);
  await recover(stage, play, { registry });
}

const revertsOf = (stage: Stage, play: Play) =>
  stage.rows<{ reverts: number }>(`select reverts from attempt where payment_id = $1`, [
    play.journey.id(),
  ]);

/** Two workers read the same revert: it is counted once. */
export async function revertRecordedTwice(stage: Stage): Promise<void> {
  const point = "capture.before_record_mined";
  const { play, server, worker } = await inHandsOf(stage, `${point}:hang`, DEEP);
  const sendAhead = await confirmWithRival(stage, play, server.baseUrl);
  await sent(stage, play);
  await sendAhead();
  await stage.mine();
  await waitsAt(stage, worker, point);
  await takeOver(stage);
  await stage.wait(
    () => revertsOf(stage, play),
    ([row]) => row?.reverts === 1,
    "the revert is counted",
  );
  release(worker);
  await stage.wait(
    async () => worker.output(),
    (log) => /recorded already/.test(log),
    "the first worker comes too late",
  );
  expect(await revertsOf(stage, play)).toEqual([{ reverts: 1 }]);
  await play.expectOneOfEverything();
}

/** A capture reverted, and then its block is gone: its nonce is free again, and everything of its signer waits for that. */
export async function revertedThenGone(stage: Stage): Promise<void> {
  const play = await beginPlay(stage, DEEP);
  const server = await stage.start({ registry });
  const sendAhead = await confirmWithRival(stage, play, server.baseUrl);
  const own = await sent(stage, play);
  await sendAhead();
  await stage.mine();
  await stage.wait(
    () =>
      stage.rows(`select 1 from chain_intent where payment_id = $1 and state = 'reverted'`, [
        play.journey.id(),
      ]),
    ({ length }) => length === 1,
    "the capture is known to have reverted",
  );
  await stage.rpc("anvil_reorg", [1, []]);
  await play.expectOneOfEverything();
  const [paid] = await stage.rows<{ tx_ref: string }>(
    `select tx_ref from capture where payment_id = $1 and status <> 'orphaned'`,
    [play.journey.id()],
  );
  expect(paid?.tx_ref).toBe(own);
}

/** A worker is about to send a settlement when settlements are held: it does not. */
export async function heldWhileSettling(stage: Stage): Promise<void> {
  const point = "settlement.before_reserve";
  const { play, server, worker } = await inHandsOf(stage, `${point}:hang`);
  await play.journey.advance(server.baseUrl);
  await sent(stage, play);
  await stage.mine(4);
  await waitsAt(stage, worker, point);
  await runCli(stage, "settlements.ts", ["hold", "*", "looked at by a test"]);
  release(worker);
  await stage.looked(10);
  const settlement = () =>
    stage.rows(`select state, intent_id from settlement where payment_id = $1`, [
      play.journey.id(),
    ]);
  expect(await settlement()).toEqual([{ state: "pending", intent_id: null }]);
  await runCli(stage, "settlements.ts", ["lift", "*"]);
  await play.expectOneOfEverything();
}
