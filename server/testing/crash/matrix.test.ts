import { expect, test } from "vitest";
import { driverNames, driverOf } from "./drivers.ts";
import { parseMatrix, readMatrix } from "./matrix.ts";

// Guarantee: no row is without a driver that exists or a reason, and no driver or fail point is without a row.
test("every row is driven or excused, and everything that can be driven has its row", () => {
  const rows = readMatrix();
  const named = rows.flatMap(({ drivers }) => drivers);
  expect(named.filter((name) => driverOf(name) === null)).toEqual([]);
  expect(
    driverNames().filter(
      (name) => !named.some((one) => one.replace(/@\d| with .*$/g, "") === name),
    ),
  ).toEqual([]);
  expect(new Set(named).size).toBe(named.length);
});

// Guarantee: the rows that decide about money are driven, whatever the document says.
test("rows that may not be excused", () => {
  const must = [1, 2, 3, 4, 5, 6, 7, 38, 39, 45, 47, 48, 49, 50, 52];
  for (let row = 11; row <= 36; row++) must.push(row);
  const excused = readMatrix().filter(({ excuse }) => excuse !== null);
  const names = excused.map(({ name }) => Number(name.slice(1)));
  expect(names.filter((row) => must.includes(row))).toEqual([]);
});

const HEAD = `| # | Step | Point | State left | Recovery | Invariants | Driven by |
|---|---|---|---|---|---|---|`;
const row = (number: number, drivenBy: string) =>
  `| F${number} | s | p | l | r | I1 | ${drivenBy} |`;
const table = (first: string, from = 2) =>
  [
    HEAD,
    first,
    ...Array.from({ length: 54 - from }, (_, index) =>
      row(index + from, "`failpoint create.before_commit`"),
    ),
  ].join("\n");

// Guarantee: a row that says nothing, or not enough, or that is missing, is not passed over.
test("what is refused in a matrix", () => {
  expect(parseMatrix(table(row(1, "`failpoint a`, `fault b`")))[0]).toEqual({
    name: "F1",
    drivers: ["failpoint a", "fault b"],
    excuse: null,
  });
  expect(parseMatrix(table(row(1, "excused: there is no such part yet")))[0]).toEqual({
    name: "F1",
    drivers: [],
    excuse: "there is no such part yet",
  });
  expect(() => parseMatrix(table(row(1, "later")))).toThrow("F1: neither driven nor excused");
  expect(() => parseMatrix(table(row(1, "`failpoint a` and more")))).toThrow("F1: neither");
  expect(() => parseMatrix(table(row(1, "excused: later")))).toThrow(
    "F1: an excuse needs a reason",
  );
  expect(() => parseMatrix(table("| F1 | s | p | l | r |  | `failpoint a` |"))).toThrow(
    "F1: a row",
  );
  expect(() => parseMatrix(table(row(3, "`failpoint a`")))).toThrow("each once and in order");
  expect(() => parseMatrix(table(row(1, "`failpoint a`"), 3))).toThrow("each once and in order");
  expect(() => parseMatrix("")).toThrow("the table's head");
});
