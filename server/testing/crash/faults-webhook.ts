import { expect } from "vitest";
import { call } from "../api.ts";
import { type Receiver, refuse, startReceiver, take, verified } from "../receivers.ts";
import { merchantOf } from "./checks.ts";
import { beginPlay, diedAt, type Play, recover } from "./finish.ts";
import { advanceOrLose } from "./journey.ts";
import type { Stage } from "./stage.ts";

const STORY = ["payment.created", "payment.processing", "payment.succeeded", "payment.settled"];

const merchantCall = (
  stage: Stage,
  baseUrl: string,
  method: string,
  path: string,
  body?: object,
) => {
  const { id, apiKey } = merchantOf(stage);
  return call(baseUrl, method, path, {
    headers: { "Api-Key": apiKey, "Merchant-Id": id },
    ...(body === undefined ? {} : { body }),
  });
};

async function hook(stage: Stage, baseUrl: string, { url }: Receiver) {
  // What an earlier row left would be the first thing that a new receiver hears of.
  await stage.wait(
    () => stage.rows(`select 1 from outbox where number is null limit 1`),
    (left) => left.length === 0,
    "earlier events are numbered",
  );
  const made = await merchantCall(stage, baseUrl, "POST", "/v1/webhook-endpoints", { url });
  expect(made.status, made.text).toBe(201);
  return made.body as { id: string; secret: string };
}

/** What a killed process had under way, or failed at, is due now. */
const hurry = (stage: Stage) =>
  stage.rows(`update webhook_delivery set due_at = clock_timestamp() where state = 'pending'`);

/** Waits until a receiver has heard of the payment's settlement; returns what it took, repetitions left out. */
async function storyOf(stage: Stage, program: Receiver, play: Play): Promise<string[]> {
  const told = await stage.wait(
    async () => program.about(play.journey.id()),
    (events) => events.some(({ type }) => type === "payment.settled"),
    "the settlement is told",
  );
  return [...new Map(told.map(({ id, type }) => [id, type])).values()];
}

/** Runs with receivers that end with the row, and whose endpoints the next row does not find. */
async function withReceivers(
  stage: Stage,
  count: number,
  work: (...receivers: Receiver[]) => Promise<void>,
): Promise<void> {
  const receivers = await Promise.all(Array.from({ length: count }, () => startReceiver()));
  try {
    await work(...receivers);
  } finally {
    await stage.killServers();
    await stage.rows(`update webhook_endpoint set state = 'deleted'`);
    await stage.rows(
      `update webhook_delivery set state = 'failed', due_at = null, ended_at = now() where state = 'pending'`,
    );
    await Promise.all(receivers.map((receiver) => receiver.stop()));
  }
}

/** The process dies while it numbers or delivers; the next one tells the whole story, in order. */
export const crashWhileTelling = (stage: Stage, point: string): Promise<void> =>
  withReceivers(stage, 1, async (program) => {
    if (program === undefined) throw new Error("no receiver");
    const play = await beginPlay(stage);
    // What earlier rows left is told by a server that lives: the next one is to die of this payment.
    const before = await stage.start();
    await hook(stage, before.baseUrl, program);
    await before.kill();
    const armed = await stage.start({ armed: `${point}:exit@1` });
    await advanceOrLose(play.journey, armed.baseUrl);
    await diedAt(stage, armed, point);
    await hurry(stage);
    await recover(stage, play);
    expect(await storyOf(stage, program, play)).toEqual(STORY);
  });

/** One receiver never answers; another one of the same merchant hears everything at once. */
export const receiverHangs = (stage: Stage): Promise<void> =>
  withReceivers(stage, 2, async (hanging, good) => {
    if (hanging === undefined || good === undefined) throw new Error("no receivers");
    hanging.behave(() => undefined);
    const play = await beginPlay(stage);
    const server = await stage.start();
    await hook(stage, server.baseUrl, hanging);
    await hook(stage, server.baseUrl, good);
    await play.journey.advance(server.baseUrl);
    await play.expectOneOfEverything();
    expect(await storyOf(stage, good, play)).toEqual(STORY);
    expect(new Set(hanging.about(play.journey.id()).map(({ type }) => type))).toEqual(
      new Set(["payment.created"]),
    );
  });

/** The secret is replaced between two attempts; the second one verifies with either. */
export const secretRotated = (stage: Stage): Promise<void> =>
  withReceivers(stage, 1, async (program) => {
    if (program === undefined) throw new Error("no receiver");
    program.behave(refuse(503));
    const play = await beginPlay(stage);
    const server = await stage.start();
    const { id, secret: old } = await hook(stage, server.baseUrl, program);
    await play.journey.advance(server.baseUrl);
    await stage.wait(
      async () => program.received.length,
      (count) => count > 0,
      "the receiver refuses",
    );
    const path = `/v1/webhook-endpoints/${id}/rotate-secret`;
    const { body } = await merchantCall(stage, server.baseUrl, "POST", path);
    const before = program.received.length;
    program.behave(take);
    await play.expectOneOfEverything();
    await hurry(stage);
    expect(await storyOf(stage, program, play)).toEqual(STORY);
    for (const one of program.received.slice(before))
      for (const secret of [old, body.secret]) expect(verified(secret, one)).toEqual(one.body);
  });
