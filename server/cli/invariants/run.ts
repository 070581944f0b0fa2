import { AUTHORIZATION_CHECKS } from "./authorizations.ts";
import { CAPTURE_CHECKS } from "./captures.ts";
import type { Check } from "./check.ts";
import type { Context } from "./context.ts";
import { EVENT_CHECKS } from "./events.ts";
import type { Finding } from "./finding.ts";
import { HYGIENE_CHECKS } from "./hygiene.ts";
import { INTENT_CHECKS } from "./intents.ts";
import { MONEY_CHECKS } from "./money.ts";
import { SETTLEMENT_CHECKS } from "./settlement.ts";
import { STATE_CHECKS } from "./state.ts";

/** All invariants, in order. */
export const CHECKS: Check[] = [
  ...STATE_CHECKS,
  ...CAPTURE_CHECKS,
  ...MONEY_CHECKS,
  ...AUTHORIZATION_CHECKS,
  ...INTENT_CHECKS,
  ...SETTLEMENT_CHECKS,
  ...EVENT_CHECKS,
  ...HYGIENE_CHECKS,
];

/** One invariant and what became of it. */
export type Line = { id: string; title: string } & Finding;

/** An invariant as one line of text. */
export function inWords(line: Line): string {
  const id = line.id.padEnd(3);
  if (line.outcome === "ok")
    return `${id} ok        ${line.title}${line.note === "" ? "" : ` (${line.note})`}`;
  if (line.outcome === "not_checked") return `${id} not checked: ${line.note} (${line.title})`;
  const more = line.problems - line.examples.length;
  const examples = `${line.examples.join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
  return `${id} violated  ${line.title}: ${line.problems === 1 ? "" : `${line.problems} times: `}${examples}`;
}

/** All lines in numbers; what is ok in part is counted by itself too. */
export function summary(lines: Line[]): string {
  const count = (outcome: Line["outcome"]) =>
    lines.filter((line) => line.outcome === outcome).length;
  const partly = lines.filter((line) => line.outcome === "ok" && line.unchecked.length > 0).length;
  return `${count("ok")} ok (${partly} of them in part), ${count("violated")} violated, ${count("not_checked")} not checked`;
}

/** 1 when anything is violated, else 2 when something that was to be looked at did not answer, else 0. */
export function exitCodeOf(lines: Line[]): number {
  if (lines.some(({ outcome }) => outcome === "violated")) return 1;
  return lines.some((line) => line.outcome === "not_checked" && line.failed) ? 2 : 0;
}

async function runOne({ id, title, run }: Check, context: Context): Promise<Line> {
  // A statement that fails ends the transaction it is in, and every check after it.
  await context.query("savepoint before_check");
  try {
    return { id, title, ...(await run(context)) };
  } catch (error) {
    await context.query("rollback to savepoint before_check");
    const reason = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    return { id, title, outcome: "not_checked", note: `it failed: ${reason}`, failed: true };
  }
}

/** Runs checks, one after the other, on one view of database and chains; `tell` hears each line at once. */
export async function runChecks(
  context: Context,
  tell: (line: Line) => void,
  checks: Check[] = CHECKS,
): Promise<Line[]> {
  const lines: Line[] = [];
  for (const check of checks) {
    const line = await runOne(check, context);
    lines.push(line);
    tell(line);
  }
  return lines;
}
