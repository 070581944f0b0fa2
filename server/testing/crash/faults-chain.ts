import { expect } from "vitest";
import { lagging, noLogs, noReceipts, withoutLogsAfter } from "../rpc-proxy.ts";
import { unguarded } from "../unguarded.ts";
import { balanceOf, expectBooks, expectNonces } from "./checks.ts";
import { becomes, beginPlay, recover, sent, statusOf } from "./finish.ts";
import { confirmWithRival } from "./front-run.ts";
import { beginJourney } from "./journey.ts";
import { neverStuck, type Stage } from "./stage.ts";

const headOf = async (stage: Stage): Promise<bigint> =>
  BigInt(await stage.rpc<string>("eth_blockNumber"));

const holds = (stage: Stage) => stage.rows<{ asset: string }>(`select asset from settlement_hold`);

/** More blocks than one turn reads. */
const MANY_BLOCKS = 150;

export async function downWhileChainMoves(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const first = await stage.start();
  await play.journey.advance(first.baseUrl);
  await sent(stage, play);
  await first.kill();
  const before = await headOf(stage);
  await stage.rpc("anvil_mine", [`0x${MANY_BLOCKS.toString(16)}`]);
  expect(await headOf(stage)).toBe(before + BigInt(MANY_BLOCKS));
  await recover(stage, play);
}

/** Moves the end of a payment's offers, which never changes otherwise; null puts it back to what was signed. */
const moveDeadline = (stage: Stage, paymentId: string, ago: string | null): Promise<void> =>
  unguarded(
    stage.test.db,
    `update payment_option set auth_deadline = coalesce(now() - $2::interval,
       to_timestamp(("authorization" ->> 'deadline')::bigint)) where payment_id = $1`,
    [paymentId, ago],
  );

/** A payment in the direct flow is mined while nobody looks, and found when the offer it came from is long over. */
export async function downForHours(stage: Stage): Promise<void> {
  const journey = beginJourney(stage, { flow: "direct" });
  const direct = stage.test.demo.merchants.find(({ flow }) => flow === "direct");
  const held = () => balanceOf(stage, stage.deployment.usdc, direct?.destination ?? "");
  const before = await held();
  const first = await stage.start();
  await journey.advance(first.baseUrl);
  await sent(stage, { journey });
  await stage.looked();
  await first.kill();
  await stage.mine();
  // As if three hours had passed: the block read last is that old, and the offer has been over for two.
  await stage.rows(
    `update chain_block b set time = time - 3 * 3600 from chain_cursor c
     where c.chain = $1 and b.chain = c.chain and b.number = c.scanned_number`,
    [stage.caip2],
  );
  await moveDeadline(stage, journey.id(), "2 hours");
  await stage.start();
  await stage.mineUntil(
    () =>
      stage.rows<{ captures: string; path: string; open: string }>(
        `select (select count(*) from capture where payment_id = $1 and status = 'finalized') as captures,
           (select string_agg(to_s, ' ' order by version) from payment_event where payment_id = $1) as path,
           (select count(*) from chain_intent where state in ('signed', 'broadcast', 'mined')) as open`,
        [journey.id()],
      ),
    ([row]) => row?.captures === "1" && row.path === "processing succeeded" && row.open === "0",
    "the payment is found",
  );
  await moveDeadline(stage, journey.id(), null);
  expect((await held()) - before).toBe(12_500_000n);
  expect(
    await stage.rows(`select 1 from settlement where payment_id = $1`, [journey.id()]),
  ).toEqual([]);
  await expectNonces(stage);
  await expectBooks(stage);
}

/** The only node stops moving while the chain goes on, and catches up later. */
export async function laggingNode(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const server = await stage.start();
  await play.journey.advance(server.baseUrl);
  await sent(stage, play);
  stage.node.fail(lagging(await headOf(stage)));
  await stage.mine(5);
  await stage.looked(15);
  expect(stage.node.hits()).toBeGreaterThan(0);
  expect(await statusOf(stage, play)).toBe("processing");
  stage.node.fail(null);
  await play.expectOneOfEverything();
  expect(await holds(stage)).toEqual([]);
}

/** A node that has the blocks and their logs, and no receipt of anything. */
export async function receiptsMissing(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const server = await stage.start();
  await play.journey.advance(server.baseUrl);
  await sent(stage, play);
  stage.node.fail(noReceipts);
  await stage.mine();
  await becomes(stage, play, "succeeded");
  await stage.wait(
    async () => stage.node.hits(),
    (hits) => hits >= 2,
    "receipts are asked for",
  );
  stage.node.fail(null);
  await play.expectOneOfEverything();
  expect(await holds(stage)).toEqual([]);
}

/** A head from one machine behind the address, and logs from another that has not seen the block: it says that there are none. */
export async function logsMissing(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const server = await stage.start();
  await play.journey.advance(server.baseUrl);
  await sent(stage, play);
  stage.node.fail(withoutLogsAfter(await headOf(stage)));
  await stage.mine(4);
  await stage.looked(10);
  expect(stage.node.hits()).toBeGreaterThan(0);
  expect(await statusOf(stage, play)).toBe("processing");
  stage.node.fail(null);
  await play.expectOneOfEverything();
  expect(await holds(stage)).toEqual([]);
}

/** A node whose logs are not there yet when its block is: the block counts as read, without the payment in it. */
export async function logsLost(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const server = await stage.start();
  await play.journey.advance(server.baseUrl);
  await sent(stage, play);
  stage.node.fail(noLogs);
  await stage.mine();
  const head = await headOf(stage);
  await stage.wait(
    () =>
      stage.rows<{ n: string }>(`select scanned_number as n from chain_cursor where chain = $1`, [
        stage.caip2,
      ]),
    ([row]) => BigInt(row?.n ?? 0) >= head,
    "the block is read",
  );
  stage.node.fail(null);
  expect(await stage.rows(`select 1 from movement where block_number = $1`, [head])).toEqual([]);
  await play.expectOneOfEverything();
}

const orphaned = (stage: Stage, id: string) =>
  stage.rows<{ state: string }>(
    `select m.state from movement m join chain_tx t on t.hash = m.tx_hash join chain_intent i on i.id = t.intent_id
     where i.payment_id = $1 and m.state = 'orphaned'`,
    [id],
  );

/** A payment that asks for the tag `safe` is mined, and its block goes away before that. */
export async function reorgBeforeSuccess(stage: Stage): Promise<void> {
  const play = await beginPlay(stage, { value: "2500" });
  const server = await stage.start();
  await play.journey.advance(server.baseUrl);
  const hash = await sent(stage, play);
  await stage.mine();
  await stage.wait(
    () => stage.rows(`select 1 from movement where tx_hash = $1 and state = 'seen'`, [hash]),
    (rows) => rows.length === 1,
    "the transfer is seen",
  );
  expect(await statusOf(stage, play)).toBe("processing");
  await stage.rpc("anvil_reorg", [1, []]);
  await stage.wait(
    () => orphaned(stage, play.journey.id()),
    (rows) => rows.length === 1,
    "the transfer is gone",
  );
  expect(await statusOf(stage, play)).toBe("processing");
  await play.expectOneOfEverything();
  expect(server.output()).toMatch(/chain reorganised/);
}

/** A payment of one confirmation succeeds, and its block goes away; the process is killed in between. */
export async function reorgAfterSuccess(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const id = play.journey.id;
  const first = await stage.start();
  await play.journey.advance(first.baseUrl);
  await sent(stage, play);
  await stage.mine();
  await becomes(stage, play, "succeeded");
  await stage.rpc("anvil_reorg", [1, []]);
  await stage.wait(
    () => stage.rows(`select 1 from capture where payment_id = $1 and status = 'orphaned'`, [id()]),
    (rows) => rows.length === 1,
    "the capture is orphaned",
  );
  expect(await statusOf(stage, play)).toBe("succeeded");
  expect(await stage.rows(`select 1 from settlement where payment_id = $1`, [id()])).toEqual([]);
  await first.kill();
  await recover(stage, play);
  const exceptions = await stage.rows<{ kind: string }>(
    `select kind from exception_record where payment_id = $1`,
    [id()],
  );
  expect(exceptions).toEqual([{ kind: "orphaned" }]);
  const postings = await stage.rows<{ reason: string }>(
    `select reason from ledger_tx where subject = $1 order by reason`,
    [id()],
  );
  expect(postings.map(({ reason }) => reason)).toEqual([
    "capture#1",
    "capture#1.reversal",
    "capture#2",
  ]);
}

export async function frontRun(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const registry = neverStuck;
  const server = await stage.start({ registry });
  const sendAhead = await confirmWithRival(stage, play, server.baseUrl);
  const own = await sent(stage, play);
  const ahead = await sendAhead();
  await stage.mine();
  await becomes(stage, play, "succeeded");
  await server.kill();
  await recover(stage, play, { registry });
  const receipt = await stage.rpc<{ status: string }>("eth_getTransactionReceipt", [own]);
  expect(receipt.status).toBe("0x0");
  const [intent] = await stage.rows(
    `select state, (select count(*) from ledger_tx where reason = 'gas' and chain_ref = $2) as gas,
       (select tx_ref from capture where payment_id = i.payment_id) as paid_by
     from chain_intent i where payment_id = $1`,
    [play.journey.id(), own],
  );
  expect(intent).toEqual({ state: "reverted", gas: "1", paid_by: ahead });
}
