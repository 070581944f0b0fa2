import { COUNTRIES } from "./countries.ts";
import {
  COLLECTED_NAMES,
  type CollectedFields,
  type CollectedName,
  MAX_TEXT,
  PLACES,
  REQUIRED,
  TEXT_PATTERN,
} from "./form.ts";

/** What is wrong with one field; the message never repeats what was given. */
export type FieldIssue = { field: string; message: string };

export type Validated =
  | { kind: "valid"; fields: CollectedFields }
  | { kind: "invalid"; issues: FieldIssue[] };

/** Years before this one in which a buyer can be born. */
export const OLDEST_YEARS = 120;
const TEXT = new RegExp(TEXT_PATTERN, "u");
const DATE = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/;
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function textProblem(value: unknown): string | null {
  if (typeof value !== "string") return "must be text";
  if (value.length > 2 * MAX_TEXT || [...value].length > MAX_TEXT)
    return `must have at most ${MAX_TEXT} characters`;
  if (!value.isWellFormed()) return "must be well-formed Unicode";
  if (!TEXT.test(value)) return "must not be empty or contain control characters";
  return null;
}

/** A date that the calendar has; comparing two of them as text compares them in time. */
function isDate(value: string): boolean {
  const [, year = "", month = "", day = ""] = DATE.exec(value) ?? [];
  if (year === "") return false;
  const [y, m, d] = [parseInt(year, 10), parseInt(month, 10), parseInt(day, 10)];
  const leap = (y % 4 === 0 && y % 100 !== 0) || y % 400 === 0;
  const days = m === 2 && leap ? 29 : (MONTH_DAYS[m - 1] ?? 0);
  return d >= 1 && d <= days;
}

function birthProblem(value: unknown, today: string): string | null {
  if (typeof value !== "string" || !isDate(value)) return "must be a date such as 1990-12-31";
  if (value >= today) return "must be in the past";
  const oldest = parseInt(today.slice(0, 4), 10) - OLDEST_YEARS;
  if (parseInt(value.slice(0, 4), 10) < oldest) return "must be a plausible date of birth";
  return null;
}

const countryProblem = (value: unknown): string | null =>
  typeof value === "string" && COUNTRIES.includes(value)
    ? null
    : "must be an ISO 3166-1 country code such as CH";

const PROBLEM: Record<CollectedName, (value: unknown, today: string) => string | null> = {
  fullName: textProblem,
  dob: birthProblem,
  pobCountry: countryProblem,
  pobAddress: textProblem,
  porCountry: countryProblem,
  porAddress: textProblem,
  tosConfirmed: (value) => (value === true ? null : "must be confirmed"),
};

/** What is missing: one issue for each required field, and one for the place nearest to complete. */
function missing(given: Map<string, unknown>): FieldIssue[] {
  const issues: FieldIssue[] = REQUIRED.filter((name) => !given.has(name)).map((field) => ({
    field,
    message: "is required",
  }));
  if (PLACES.some((pair) => pair.every((name) => given.has(name)))) return issues;
  const begun = PLACES.find((pair) => pair.some((name) => given.has(name)));
  const field = begun?.find((name) => !given.has(name)) ?? PLACES[0][0];
  const either = PLACES.map((pair) => pair.join(" with ")).join(", or ");
  return [...issues, { field, message: `is required: ${either}` }];
}

/** Checks a form against all rules: those of the schema and, beyond it, a plausible birth before `today` (YYYY-MM-DD, UTC). */
export function validateCollected(data: unknown, today: string): Validated {
  if (typeof data !== "object" || data === null || Array.isArray(data))
    return { kind: "invalid", issues: [{ field: "", message: "must be an object" }] };
  const given = new Map<string, unknown>(Object.entries(data));
  const issues = missing(given);
  const fields: CollectedFields = [];
  for (const name of COLLECTED_NAMES) {
    if (!given.has(name)) continue;
    const value = given.get(name);
    const problem = PROBLEM[name](value, today);
    if (problem === null) fields.push({ name, value: String(value).trim() });
    else issues.push({ field: name, message: problem });
    given.delete(name);
  }
  if (given.size > 0) issues.push({ field: "", message: "has members that are not asked for" });
  return issues.length === 0 ? { kind: "valid", fields } : { kind: "invalid", issues };
}

/**
 * The form in a wallet's `collectedData`, which has nothing but text: `{fields: [{id, value}]}`. Fields left empty are
 * fields not given. Null: not of this shape, or one field twice.
 */
export function fromWallet(collectedData: unknown): Record<string, unknown> | null {
  if (typeof collectedData !== "object" || collectedData === null) return null;
  const { fields } = collectedData as { fields?: unknown };
  if (!Array.isArray(fields) || fields.length > 2 * COLLECTED_NAMES.length) return null;
  const data = new Map<string, unknown>();
  for (const field of fields as unknown[]) {
    if (typeof field !== "object" || field === null) return null;
    const { id, value } = field as { id?: unknown; value?: unknown };
    if (typeof id !== "string" || data.has(id)) return null;
    const confirmed = id === "tosConfirmed" && value === "true";
    if (value !== "" && value != null) data.set(id, confirmed ? true : value);
  }
  return Object.fromEntries(data);
}
