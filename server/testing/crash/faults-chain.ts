import { createWalletClient, encodeFunctionData, type Hex, http, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect } from "vitest";
import type { Action } from "../api.ts";
import { lagging, noReceipts } from "../rpc-proxy.ts";
import { becomes, beginPlay, recover, sent, statusOf } from "./finish.ts";
import type { Stage } from "./stage.ts";

const TOKEN = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
]);

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

type Transfer = { from: Hex; to: Hex; value: string; validBefore: string; nonce: Hex };

/** Sends the buyer's own authorization from somebody else's account, ahead of everything that waits. */
async function sendAhead(stage: Stage, action: Action, signature: string): Promise<Hex> {
  const m: Transfer = JSON.parse(String(action.data.params[1])).message;
  const data = encodeFunctionData({
    abi: TOKEN,
    functionName: "transferWithAuthorization",
    args: [m.from, m.to, BigInt(m.value), 0n, BigInt(m.validBefore), m.nonce, signature as Hex],
  });
  const client = createWalletClient({
    account: privateKeyToAccount(stage.test.buyer("usdt").key),
    transport: http(stage.url),
  });
  return client.sendTransaction({
    to: stage.deployment.usdc,
    data,
    gas: 300_000n,
    maxPriorityFeePerGas: 900_000_000_000n,
    maxFeePerGas: 2_000_000_000_000n,
    chain: null,
  });
}

export async function frontRun(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const server = await stage.start();
  await play.journey.create(server.baseUrl);
  await play.journey.options(server.baseUrl);
  const [signature = ""] = await play.journey.sign();
  const [action] = play.journey.option()?.actions ?? [];
  if (action === undefined) throw new Error("no action");
  await play.journey.confirm(server.baseUrl);
  const own = await sent(stage, play);
  const ahead = await sendAhead(stage, action, signature);
  await stage.mine();
  await becomes(stage, play, "succeeded");
  await server.kill();
  await recover(stage, play);
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
