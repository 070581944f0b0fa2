import { expect } from "vitest";
import type { TestServer } from "../world.ts";
import {
  balances,
  expectBooks,
  expectNonces,
  expectOnce,
  NET,
  PAID,
  settled,
} from "./checks.ts";
import { advanceOrLose, beginJourney, type Journey } from "./journey.ts";
import { ended, reached, type Stage } from "./stage.ts";

type Token = "USDC" | "USDT";

/** One payment of 12.50 and what its parties held before it. */
export type Play = {
  journey: Journey;
  /** Waits for the payment's end and checks that everything moved exactly once. */
  expectOneOfEverything(): Promise<void>;
};

/** Begins a payment of 12.50 in the first chain's token. */
export async function beginPlay(
  stage: Stage,
  options: { symbol?: Token; expiresAt?: number } = {},
): Promise<Play> {
  const { symbol = "USDC" } = options;
  const token = symbol === "USDC" ? "usdc" : "usdt";
  const journey = beginJourney(stage, options);
  const before = await balances(stage, token, journey.buyer.address);
  return {
    journey,
    async expectOneOfEverything() {
      await settled(stage, journey);
      await expectOnce(stage, journey.id());
      const after = await balances(stage, token, journey.buyer.address);
      const paid = before.buyer - after.buyer;
      // A token without a fixed rate of one may cost a few units more or less.
      if (symbol === "USDC") expect(paid).toBe(PAID);
      expect({
        net: after.destination - before.destination,
        kept: after.intermediary - before.intermediary,
      }).toEqual(
        symbol === "USDC"
          ? { net: NET, kept: PAID - NET }
          : { net: paid - (paid * 40n + 9_999n) / 10_000n, kept: (paid * 40n + 9_999n) / 10_000n },
      );
      await expectNonces(stage);
      await expectBooks(stage);
    },
  };
}

/** Waits until a process died at its fail point, while blocks are made. */
export async function diedAt(
  stage: Stage,
  server: TestServer,
  point: string,
  { mining = true }: { mining?: boolean } = {},
): Promise<void> {
  let dead = false;
  void server.exited.then(() => {
    dead = true;
  });
  const wait = mining ? stage.mineUntil : stage.wait;
  await wait(
    async () => dead || server.output().slice(-1200),
    (seen) => seen === true,
    `the process dies at ${point}`,
  );
  await ended(server);
  expect(reached(server, point)).toMatch(new RegExp(`^failpoint ${point}:exit@\\d+$`));
}

/** A server without fail points does what is left to do, and the payment ends as if nothing had happened. */
export async function recover(stage: Stage, play: Play): Promise<TestServer> {
  const server = await stage.start();
  await play.journey.advance(server.baseUrl);
  await play.expectOneOfEverything();
  return server;
}

/** Runs one payment into a fail point, starts again, and expects one of everything. */
export async function crashAt(stage: Stage, point: string, nth = 1): Promise<void> {
  const play = await beginPlay(stage);
  const armed = await stage.start({ armed: `${point}:exit@${nth}` });
  await advanceOrLose(play.journey, armed.baseUrl);
  await diedAt(stage, armed, point);
  await recover(stage, play);
}
