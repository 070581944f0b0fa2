import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "#server/sandbox/prepare.ts";

/** One row of the matrix: how it is driven, or why it is not. */
export type Row = {
  name: string;
  drivers: string[];
  /** Null: the row is driven. */
  excuse: string | null;
};

const COLUMNS = ["#", "Step", "Point", "State left", "Recovery", "Invariants", "Driven by"];
/** Rows the matrix must have, by their numbers. */
const ROWS = Array.from({ length: 53 }, (_, index) => `F${index + 1}`);
/** The shortest excuse that can say something. */
const MIN_EXCUSE = 20;

const cells = (line: string): string[] =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());

function readRow(line: string): Row {
  const [name = "", ...rest] = cells(line);
  const drivenBy = rest.at(-1) ?? "";
  if (rest.length + 1 !== COLUMNS.length || rest.some((cell) => cell === ""))
    throw new Error(`${name || line}: a row has ${COLUMNS.length} cells with something in each`);
  const excuse = /^excused: (.+)$/.exec(drivenBy)?.[1] ?? null;
  if (excuse !== null) {
    if (excuse.length < MIN_EXCUSE) throw new Error(`${name}: an excuse needs a reason`);
    return { name, drivers: [], excuse };
  }
  const drivers = [...drivenBy.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? "");
  if (drivers.length === 0 || drivers.map((one) => `\`${one}\``).join(", ") !== drivenBy)
    throw new Error(`${name}: neither driven nor excused: ${drivenBy}`);
  return { name, drivers, excuse: null };
}

/** The rows of a matrix; throws unless each of F1 to F53 is there once, in order, driven or excused. */
export function parseMatrix(text: string): Row[] {
  const lines = text.split("\n").filter((line) => line.startsWith("|"));
  const [head, ruler, ...body] = lines;
  if (JSON.stringify(cells(head ?? "")) !== JSON.stringify(COLUMNS) || ruler === undefined)
    throw new Error(`the table's head must be ${COLUMNS.join(" | ")}`);
  const rows = body.map(readRow);
  const names = rows.map(({ name }) => name);
  if (JSON.stringify(names) !== JSON.stringify(ROWS))
    throw new Error(`rows must be F1 to F53, each once and in order, and are ${names.join(" ")}`);
  return rows;
}

/** The project's matrix. */
export const readMatrix = (): Row[] =>
  parseMatrix(readFileSync(join(ROOT, "docs", "crash-matrix.md"), "utf8"));
