import { expect, test } from "vitest";
import { runChaos } from "./chaos-run.ts";

const KILLS = 6;

// Guarantee: server, worker and PostgreSQL can be killed at any moment of the traffic, and every payment is still paid once and settled once.
test("twenty payments under kill -9", { timeout: 240_000 }, async () => {
  const { kills, troubles, surprises } = await runChaos({
    purchases: 20,
    kills: KILLS,
    atOnce: 6,
  });
  expect(kills.map(({ victim }) => victim)).toEqual([
    ...["server", "worker", "PostgreSQL"],
    ...["server", "worker", "PostgreSQL"],
  ]);
  // Nothing ends but what is killed, and clients are never told anything worse than "try again".
  expect(surprises).toEqual([]);
  expect([...troubles.keys()].filter((what) => !/^(connection lost|503 )/.test(what))).toEqual([]);
});
