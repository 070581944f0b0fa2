import { expect } from "vitest";
import { rpc } from "#server/sandbox/node-rpc.ts";
import { call } from "../api.ts";
import { down, type Fault } from "../rpc-proxy.ts";
import { endsIn } from "../unguarded.ts";
import {
  becomes,
  beginPlay,
  diedAt,
  expectExpired,
  type Play,
  recover,
  sent,
  statusOf,
  waitsAt,
} from "./finish.ts";
import { advanceOrLose } from "./journey.ts";
import { ended, lower, reached, release, type Stage } from "./stage.ts";

/** A time in which a checked confirm reaches the database on a busy machine too. */
const SOON_S = 8;

async function payments(stage: Stage): Promise<number> {
  const rows = await stage.rows<{ n: string }>(`select count(*) as n from payment`);
  return Number(rows[0]?.n);
}

/** The server's answer to an insert is lost after the insert was committed: with a key and without. */
export async function commitAnswerLost(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const server = await stage.start();
  const before = await payments(stage);
  stage.database.loseAnswerTo("create_payment_claimed");
  await play.journey.create(server.baseUrl);
  expect(stage.database.lost()).toBe(1);
  expect(await payments(stage)).toBe(before + 1);
  stage.database.loseAnswerTo("create_payment");
  expect((await stage.api(server.baseUrl).create()).status).toBe(201);
  expect(stage.database.lost()).toBe(2);
  expect(await payments(stage)).toBe(before + 2);
  await play.journey.advance(server.baseUrl);
  await play.expectOneOfEverything();
}

/** Nobody is there when the window closes. */
export async function downPastExpiry(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const first = await stage.start({ env: { FLORIN_WORKER: "off" } });
  await play.journey.create(first.baseUrl);
  await first.kill();
  await endsIn(stage.test.db, play.journey.id());
  await stage.wait(
    () =>
      stage.rows<{ over: boolean }>(
        `select expires_at < clock_timestamp() as over from payment where id = $1`,
        [play.journey.id()],
      ),
    ([row]) => row?.over === true,
    "the window is over",
  );
  expect(await statusOf(stage, play)).toBe("requires_action");
  const second = await stage.start();
  await becomes(stage, play, "expired");
  await expectExpired(stage, play.journey.id());
  const late = await stage
    .api(second.baseUrl)
    .options(play.journey.id(), [`${stage.caip2}:${play.journey.buyer.address}`]);
  expect([late.status, late.body.code]).toEqual([410, "payment_expired"]);
}

/** The process dies while it closes a window. */
export async function crashWhileExpiring(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const armed = await stage.start({ armed: "expire.before_change:exit" });
  await play.journey.create(armed.baseUrl);
  await endsIn(stage.test.db, play.journey.id());
  await diedAt(stage, armed, "expire.before_change");
  expect(await statusOf(stage, play)).toBe("requires_action");
  await stage.start();
  await becomes(stage, play, "expired");
  await expectExpired(stage, play.journey.id());
}

export async function oneChainDown(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const server = await stage.start();
  await play.journey.create(server.baseUrl);
  const { address } = play.journey.buyer;
  const chains = async () => {
    const accounts = [stage.caip2, "eip155:31338"].map((chain) => `${chain}:${address}`);
    const { status, body } = await stage.api(server.baseUrl).options(play.journey.id(), accounts);
    expect(status).toBe(200);
    const found: string[] = body.options.map(({ account }: { account: string }) =>
      account.split(":").slice(0, 2).join(":"),
    );
    return [...new Set(found)].toSorted();
  };
  // A chain that is too busy to answer in time offers nothing either.
  stage.otherNode.fail(down);
  const known = await stage.wait(chains, ({ length }) => length > 0, "a chain gives options");
  expect(known).toEqual([stage.caip2]);
  expect(stage.otherNode.hits()).toBeGreaterThan(0);
  stage.otherNode.fail(null);
  const both = await stage.wait(chains, ({ length }) => length > 1, "both chains give options");
  expect(both).toEqual([stage.caip2, "eip155:31338"]);
  await play.journey.advance(server.baseUrl);
  await play.expectOneOfEverything();
}

/** The actions of the offer a journey has seen. */
async function fetched(stage: Stage, baseUrl: string, { journey }: Play): Promise<unknown> {
  const { status, body } = await call(
    baseUrl,
    "POST",
    `/v1/gateway/payment/${journey.id()}/fetch`,
    {
      headers: stage.api(baseUrl).gatewayHeaders,
      body: { optionId: journey.option()?.id, data: "" },
    },
  );
  expect(status).toBe(200);
  return body.actions;
}

export async function killedBeforeFetch(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const first = await stage.start();
  await play.journey.create(first.baseUrl);
  await play.journey.options(first.baseUrl);
  const offered = play.journey.option();
  const before = await fetched(stage, first.baseUrl, play);
  await first.kill();
  const second = await stage.start();
  expect(await fetched(stage, second.baseUrl, play)).toEqual(before);
  await play.journey.options(second.baseUrl);
  expect(play.journey.option()).toEqual(offered);
  await play.journey.advance(second.baseUrl);
  await play.expectOneOfEverything();
}

/** The window closes while a signature is checked. Nothing else runs that could close it. */
export async function windowClosesDuringConfirm(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const { journey } = play;
  const point = "confirm.checked";
  const first = await stage.start({ armed: `${point}:hang`, env: { FLORIN_WORKER: "off" } });
  await journey.create(first.baseUrl);
  await journey.options(first.baseUrl);
  const outputs = await journey.sign();
  const confirming = stage
    .api(first.baseUrl)
    .confirm(journey.id(), journey.option()?.id ?? "", outputs);
  await waitsAt(stage, first, point);
  await endsIn(stage.test.db, journey.id());
  release(first);
  const refused = await confirming;
  expect([refused.status, refused.body.code]).toEqual([410, "payment_expired"]);
  await first.kill();
  await stage.start();
  await becomes(stage, play, "expired");
  await expectExpired(stage, journey.id());
}

export async function screeningDown(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const { journey } = play;
  const first = await stage.start();
  await journey.create(first.baseUrl);
  await journey.options(first.baseUrl);
  const outputs = await journey.sign();
  // Another process: a verdict of a moment ago would be used again.
  await first.kill();
  const second = await stage.start();
  const oracle: Fault = ({ method, params }) =>
    method === "eth_call" &&
    lower(String((params[0] as { to?: string }).to)) === lower(stage.deployment.sanctions)
      ? { kind: "no_answer" }
      : undefined;
  stage.node.fail(oracle);
  const refused = await stage
    .api(second.baseUrl)
    .confirm(journey.id(), journey.option()?.id ?? "", outputs);
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).not.toBeNull();
  expect(stage.node.hits()).toBeGreaterThan(0);
  expect(await statusOf(stage, play)).toBe("requires_action");
  stage.node.fail(null);
  await journey.advance(second.baseUrl);
  await play.expectOneOfEverything();
}

/** A confirm came in time and commits when the window is over, while the sweep waits for its row. */
export async function expiryMeetsConfirm(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const [checked, accepted] = ["confirm.checked", "confirm.before_commit"];
  const armed = await stage.start({ armed: `${checked}:hang,${accepted}:hang` });
  await play.journey.create(armed.baseUrl);
  await play.journey.options(armed.baseUrl);
  const confirming = play.journey.confirm(armed.baseUrl);
  await waitsAt(stage, armed, checked);
  await endsIn(stage.test.db, play.journey.id(), SOON_S);
  release(armed);
  await waitsAt(stage, armed, accepted);
  await stage.wait(
    () =>
      stage.rows<{ n: string }>(
        `select count(*) as n from pg_stat_activity where wait_event_type = 'Lock' and query like '%from payment where id%for update%'`,
      ),
    ([row]) => row?.n === "1",
    "the sweep waits for the payment",
  );
  release(armed);
  expect((await confirming).body.status).toBe("processing");
  await play.expectOneOfEverything();
}

/** Waits until a server has read every block that there is, so that the next one to be read is one that is not made yet. */
async function readsEverything(stage: Stage): Promise<void> {
  const heads = await Promise.all(
    [stage.node, stage.otherNode].map(({ url }) => rpc<string>(url, "eth_blockNumber")),
  );
  await stage.wait(
    () => stage.rows<{ n: string }>(`select scanned_number as n from chain_cursor order by chain`),
    (rows) => rows.map(({ n }) => n).join() === heads.map((head) => BigInt(head)).join(),
    "every block is read",
  );
}

/** The process dies while it reads the block that the payment is in. */
export async function crashOnBlock(stage: Stage, point: string): Promise<void> {
  const play = await beginPlay(stage);
  const first = await stage.start();
  await readsEverything(stage);
  await first.kill();
  const armed = await stage.start({ armed: `${point}:exit` });
  expect(await advanceOrLose(play.journey, armed.baseUrl)).toBe(true);
  await sent(stage, play);
  await stage.mine();
  await ended(armed);
  expect(reached(armed, point)).toBe(`failpoint ${point}:exit@1`);
  await recover(stage, play);
}
