import { afterAll, afterEach, beforeAll, test } from "vitest";
import { expectInvariants } from "./checks.ts";
import { driverOf } from "./drivers.ts";
import { readMatrix } from "./matrix.ts";
import { openStage, type Stage } from "./stage.ts";

/** Into how many files the matrix is dealt out, so that they run side by side. */
const SHARES = 5;

/** Runs every fifth driver of the matrix, from number `share` (1 to 5) on, in one world. */
export function playShare(share: 1 | 2 | 3 | 4 | 5): void {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterEach(({ task }) => stage?.reset(task.result?.state !== "pass"));
  afterAll(() => stage?.stop());
  const plays = readMatrix()
    .flatMap(({ name, drivers, excuse }) =>
      excuse === null ? drivers.map((driver) => [name, driver] as const) : [],
    )
    .filter((_, index) => index % SHARES === share - 1);
  test.for(plays)("%s %s", async ([, driver]) => {
    const play = driverOf(driver);
    if (play === null) throw new Error(`there is no driver ${driver}`);
    await play(stage);
  });
  // Once for all of them: what a row spoilt is still spoilt at the end.
  test("every invariant holds", () => expectInvariants(stage));
}
