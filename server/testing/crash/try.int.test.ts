import { afterAll, afterEach, beforeAll, test } from "vitest";
import { crashAt } from "./finish.ts";
import { openStage, type Stage } from "./stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterEach(() => stage?.reset());
afterAll(() => stage?.stop());

test.for([
  "create.before_commit",
  "create.after_commit",
  "options.after_save",
  "confirm.before_commit",
  "confirm.after_commit",
  "submit.before_reserve",
  "submit.after_reserve",
  "capture.before_commit_raw",
  "capture.after_commit_raw",
  "capture.after_broadcast",
  "capture.after_mark",
  "capture.before_record_mined",
  "succeed.before_commit",
  "succeed.after_commit",
  "settle.before_create",
  "settle.after_create",
  "settlement.after_reserve",
  "settlement.after_commit_raw",
  "settlement.before_final",
])("%s", (point) => crashAt(stage, point));
