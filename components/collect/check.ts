import type { CollectField } from "#server/contract/collect.ts";
import { validateCollected } from "#server/domain/collect/validate.ts";

/** What is wrong with a field, as a name of the sentence that says so. */
export type Problem =
  | "required"
  | "characters"
  | "tooLong"
  | "date"
  | "future"
  | "tooOld"
  | "country"
  | "agree"
  | "refused";

/** Problems by field name; empty: the form may be sent. */
export type Problems = Readonly<Record<string, Problem>>;

/** One finding of the server. */
export type ServerIssue = { field: string; message: string };

/** What the buyer's answers are sent as. */
export type Answers = Readonly<Record<string, unknown>>;

const SAID: readonly [RegExp, Problem][] = [
  [/^is required/, "required"],
  [/at most \d+ characters/, "tooLong"],
  [/must be text|Unicode|control characters/, "characters"],
  [/must be a date/, "date"],
  [/in the past/, "future"],
  [/plausible/, "tooOld"],
  [/country code/, "country"],
  [/must be confirmed/, "agree"],
];

/** The problem a message of the rules stands for; `refused` where it is a message this page does not know. */
export const problemOf = (message: string): Problem =>
  SAID.find(([pattern]) => pattern.test(message))?.[1] ?? "refused";

/** What is sent: texts without white space around them, nothing that was left empty, and only what is on screen. */
export function answersFrom(
  fields: readonly CollectField[],
  read: (name: string) => string,
): Answers {
  const entries = fields.map(({ name, kind }): [string, unknown] => {
    const value = read(name).trim();
    return [name, kind === "consent" ? value !== "" : value];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== "" && value !== false));
}

/** Checks what is on screen by the server's own rules. `today` as YYYY-MM-DD. */
export function checkAnswers(
  fields: readonly CollectField[],
  answers: Answers,
  today: string,
): Problems {
  const problems: Record<string, Problem> = {};
  for (const { name, kind } of fields)
    if (answers[name] === undefined) problems[name] = kind === "consent" ? "agree" : "required";
  const read = validateCollected(answers, today);
  if (read.kind === "invalid")
    for (const { field, message } of read.issues)
      if (field in answers) problems[field] ??= problemOf(message);
  return problems;
}

/** The server's findings on fields that are on screen; empty: it found something no field of it can answer for. */
export function mapIssues(
  fields: readonly CollectField[],
  issues: readonly ServerIssue[],
): Problems {
  const problems: Record<string, Problem> = {};
  for (const { field, message } of issues) {
    const name = field.split(".").at(-1) ?? "";
    if (fields.some((one) => one.name === name)) problems[name] ??= problemOf(message);
  }
  return problems;
}
