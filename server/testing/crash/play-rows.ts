import { afterAll, afterEach, beforeAll, test } from "vitest";
import { expectInvariants } from "./checks.ts";
import { driverOf } from "./drivers.ts";
import { readMatrix } from "./matrix.ts";
import { openStage, type Stage } from "./stage.ts";

/** Runs every driver of the rows from `first` to `last`, in the order of the document, in one world. */
export function playRows(first: number, last: number): void {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterEach(() => stage?.reset());
  afterAll(() => stage?.stop());
  const plays = readMatrix()
    .filter(({ name }) => Number(name.slice(1)) >= first && Number(name.slice(1)) <= last)
    .flatMap(({ name, drivers, excuse }) =>
      excuse === null ? drivers.map((driver) => [name, driver] as const) : [],
    );
  test.for(plays)("%s %s", async ([, driver]) => {
    const play = driverOf(driver);
    if (play === null) throw new Error(`there is no driver ${driver}`);
    await play(stage);
    await expectInvariants(stage);
  });
}
