import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { armFailpoints, failpoint } from "./failpoint.ts";

afterEach(() => {
  armFailpoints(undefined);
  vi.restoreAllMocks();
});

// Guarantee: who reads that a process hangs can let it go on, and the signal is nobody's before and after.
test("a hang ends when it is released", async () => {
  const told: number[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation(
    () => told.push(process.listenerCount("SIGUSR2")) > 0,
  );
  armFailpoints("a.point:hang@2");
  await failpoint("a.point");
  expect(told).toEqual([]);
  const hanging = failpoint("a.point");
  expect(told).toEqual([1]);
  process.emit("SIGUSR2");
  await hanging;
  expect(process.listenerCount("SIGUSR2")).toBe(0);
  await failpoint("a.point");
});

// Guarantee: a file arms points while the process runs, and each list begins to count anew.
test("a file says what is armed", async () => {
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const file = join(mkdtempSync(join(tmpdir(), "florin-points-")), "points");
  writeFileSync(file, "");
  armFailpoints(`@${file}`);
  await failpoint("a.point");
  writeFileSync(file, "a.point:throw@2");
  await failpoint("a.point");
  await expect(failpoint("a.point")).rejects.toThrow("failpoint a.point");
  await failpoint("a.point");
  writeFileSync(file, "a.point:throw");
  await expect(failpoint("a.point")).rejects.toThrow("failpoint a.point");
  writeFileSync(file, "");
  await failpoint("a.point");
  rmSync(dirname(file), { recursive: true });
});

// Guarantee: a point that would do something else than was meant does not arm.
test("what is refused", () => {
  for (const spec of ["a.point", "a.point:sleep", "a.point:delay", "a.point:exit@", ""])
    expect(() => armFailpoints(spec)).toThrow("FAILPOINT: not understood");
  expect(() => armFailpoints("@/nowhere/points")).toThrow("FAILPOINT: ENOENT");
});
