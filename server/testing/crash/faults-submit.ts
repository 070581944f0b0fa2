import { expect } from "vitest";
import { asOwner, fundGas } from "#server/sandbox/deploy.ts";
import { loseAnswers, refuse } from "../rpc-proxy.ts";
import type { TestServer } from "../world.ts";
import { takeOver } from "./faults-overtaken.ts";
import {
  becomes,
  beginPlay,
  diedAt,
  type Play,
  recover,
  sent,
  statusOf,
  waitsAt,
} from "./finish.ts";
import { ended, neverStuck, reached, release, type Stage, stuckAfter } from "./stage.ts";

const SEND = "eth_sendRawTransaction";

type StoredTx = { hash: string; role: string; intent_id: string; state: string };

/** Every stored transaction of a payment's captures, oldest first. */
const capturesOf = (stage: Stage, play: Play): Promise<StoredTx[]> =>
  stage.rows<StoredTx>(
    `select t.hash, t.role, t.intent_id, i.state from chain_intent i join chain_tx t on t.intent_id = i.id
     where i.payment_id = $1 order by t.created_at`,
    [play.journey.id()],
  );

/** A nonce was reserved, and when the process is back the call would revert: the nonce is filled, and the attempt goes on with another. */
export async function reservedCallTurnsInvalid(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const { journey } = play;
  const listed = (on: boolean) =>
    stage.whileMining(() =>
      asOwner(
        stage.url,
        stage.deployment,
        stage.deployment.usdc,
        "function setBlacklisted(address account, bool listed)",
        [journey.buyer.address, on],
      ),
    );
  const registry = neverStuck;
  const armed = await stage.start({ armed: "submit.after_reserve:exit", registry });
  await journey.advance(armed.baseUrl);
  await diedAt(stage, armed, "submit.after_reserve");
  await listed(true);
  await stage.start({ registry });
  await stage.mineUntil(
    () => capturesOf(stage, play),
    ([tx]) => tx?.role === "fill" && tx.state === "superseded",
    "the nonce is filled",
  );
  expect(await statusOf(stage, play)).toBe("processing");
  await listed(false);
  await play.expectOneOfEverything();
  const [fill, main, ...more] = await capturesOf(stage, play);
  expect([fill?.role, main?.role, more.length]).toEqual(["fill", "main", 0]);
}

/** Every node takes the bytes and no answer comes back; then the process dies too. */
export async function broadcastAnswerLost(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const registry = neverStuck;
  const first = await stage.start({ registry });
  stage.node.fail(loseAnswers(SEND));
  await play.journey.advance(first.baseUrl);
  await stage.wait(
    async () => stage.node.hits(),
    (hits) => hits > 0,
    "an answer to a broadcast is lost",
  );
  await first.kill();
  expect(await statusOf(stage, play)).toBe("processing");
  stage.node.fail(null);
  await recover(stage, play, { registry });
  expect(await capturesOf(stage, play)).toHaveLength(1);
}

/** The node has words against the transaction; nothing follows from words. */
export async function nodeRefusesTransaction(stage: Stage): Promise<void> {
  for (const words of ["nonce too low", "transaction type not supported"]) {
    const play = await beginPlay(stage);
    const server = await stage.start({ registry: stuckAfter(2) });
    stage.node.fail(refuse(words)(SEND));
    await play.journey.advance(server.baseUrl);
    await stage.wait(
      async () => stage.node.hits(),
      (hits) => hits >= 2,
      "the node refuses twice",
    );
    expect(await statusOf(stage, play)).toBe("processing");
    stage.node.fail(null);
    await play.expectOneOfEverything();
    const txs = await capturesOf(stage, play);
    expect(new Set(txs.map(({ intent_id }) => intent_id)).size).toBe(1);
    expect(txs.every(({ role }) => role === "main")).toBe(true);
    await stage.killServers();
  }
}

export async function relayerWithoutGas(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const server = await stage.start({ registry: stuckAfter(1) });
  await play.journey.create(server.baseUrl);
  await play.journey.options(server.baseUrl);
  const relayers = (
    await stage.rows<{ signer: string }>(`select signer from signer_nonce where chain = $1`, [
      stage.caip2,
    ])
  ).map(({ signer }) => signer);
  for (const signer of relayers) await stage.rpc("anvil_setBalance", [signer, "0x0"]);
  try {
    await play.journey.confirm(server.baseUrl);
    await stage.wait(
      async () => server.output(),
      (log) => /insufficient_funds/.test(log),
      "the node says that there is no gas money",
    );
    await stage.looked(10);
    expect(await statusOf(stage, play)).toBe("processing");
  } finally {
    for (const signer of relayers) await fundGas(stage.url, signer);
  }
  await play.expectOneOfEverything();
}

/** One worker pauses between storing and sending; the other finds the stored transaction and sends it. */
export async function twoWorkersSubmit(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const point = "capture.after_commit_raw";
  const registry = neverStuck;
  const server = await stage.start({ env: { FLORIN_WORKER: "off" }, registry });
  const other = await stage.start({ entry: "worker", registry });
  // Only the chain's lease lets a worker look at it.
  await stage.looked();
  const paused = await stage.start({ entry: "worker", armed: `${point}:hang`, registry });
  // The one with the lease stands still until the payment is the other one's work.
  process.kill(other.pid, "SIGSTOP");
  await play.journey.advance(server.baseUrl);
  await waitsAt(stage, paused, point);
  process.kill(other.pid, "SIGCONT");
  await play.expectOneOfEverything();
  release(paused);
  await sentAgain(stage, paused);
  expect(await capturesOf(stage, play)).toHaveLength(1);
  await play.expectOneOfEverything();
}

/** Waits until a worker that slept over the end of its transaction has sent the bytes after all, in vain. */
async function sentAgain(stage: Stage, worker: TestServer): Promise<void> {
  await stage.wait(
    async () => worker.output(),
    (log) => /broadcast was not accepted/.test(log),
    "the worker that paused sends its bytes",
  );
}

/** The first transaction cannot be mined any more; the process dies when the second is stored and not sent. */
export async function killedDuringReplacement(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const registry = stuckAfter(1);
  const armed = await stage.start({ armed: "replace.after_store:exit", registry });
  await play.journey.advance(armed.baseUrl);
  await ended(armed);
  expect(reached(armed, "replace.after_store")).toBe("failpoint replace.after_store:exit@1");
  const [first, second, ...more] = await capturesOf(stage, play);
  expect([second?.intent_id, more.length]).toEqual([first?.intent_id, 0]);
  await stage.rpc("anvil_setNextBlockBaseFeePerGas", [`0x${(200_000_000_000n).toString(16)}`]);
  await recover(stage, play, { registry });
  const txs = await capturesOf(stage, play);
  const found = await Promise.all(
    txs.map(({ hash }) => stage.rpc<object | null>("eth_getTransactionReceipt", [hash])),
  );
  expect(found.filter((receipt) => receipt !== null)).toHaveLength(1);
  expect(txs[0]?.hash).toBe(first?.hash);
  expect(found[0]).toBeNull();
}

/** As `broadcastAnswerLost`, for the settlement's transaction. */
export async function settlementAnswerLost(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const registry = neverStuck;
  const first = await stage.start({ registry });
  await play.journey.advance(first.baseUrl);
  await sent(stage, play);
  await stage.mine();
  await becomes(stage, play, "succeeded");
  stage.node.fail(loseAnswers(SEND));
  await stage.mineUntil(
    async () => stage.node.hits(),
    (hits) => hits > 0,
    "an answer to a settlement's broadcast is lost",
  );
  await first.kill();
  stage.node.fail(null);
  await recover(stage, play, { registry });
  const txs = await stage.rows(
    `select t.hash from settlement s join chain_tx t on t.intent_id = s.intent_id where s.payment_id = $1`,
    [play.journey.id()],
  );
  expect(txs).toHaveLength(1);
}

/** The worker with the chain's lease pauses before it sends and loses the lease meanwhile; the other one settles, and then the first wakes up. */
export async function twoWorkersSettle(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const point = "settlement.after_commit_raw";
  const registry = neverStuck;
  const server = await stage.start({ env: { FLORIN_WORKER: "off" }, registry });
  const first = await stage.start({ entry: "worker", armed: `${point}:hang`, registry });
  await play.journey.advance(server.baseUrl);
  await sent(stage, play);
  await stage.mine(4);
  await waitsAt(stage, first, point);
  await takeOver(stage);
  await play.expectOneOfEverything();
  release(first);
  await sentAgain(stage, first);
  await stage.looked();
  await play.expectOneOfEverything();
}
