import { expect, test } from "vitest";
import { runChaos } from "./chaos-run.ts";

// Guarantee: as the short run, with more of everything.
test("a hundred payments under fifteen kills", async () => {
  const { kills, troubles, surprises } = await runChaos({ purchases: 100, kills: 15, atOnce: 10 });
  expect(kills).toHaveLength(15);
  expect(surprises).toEqual([]);
  expect([...troubles.keys()].filter((what) => !/^(connection lost|503 )/.test(what))).toEqual([]);
});
