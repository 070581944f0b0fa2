import type { z } from "zod";
import { AppError, type Issue } from "#server/platform/app-error.ts";

/** Findings that say the shape is wrong; any other says that a rule was broken. */
const SHAPE = new Set(["invalid_type", "invalid_union", "invalid_value", "invalid_element"]);
const MAX_ISSUES = 20;

/** Says of a member that is not there that it is missing, not what an engine calls its value; null: zod's own words. */
const wording = ({ code, input }: z.core.$ZodRawIssue): string | null =>
  code === "invalid_type" && input === undefined ? "is missing" : null;

/** A finding: `path` leads to it, `field` is the same without positions in lists. */
const toIssue = ({ path, message }: z.core.$ZodIssue): Issue => ({
  path: path.map(String).join("."),
  field: path.filter((step) => typeof step === "string").join("."),
  message,
});

/** `value` as the shape has it, unknown members dropped; refuses anything else and names every wrong member. */
export function validate<T extends z.ZodType>(
  shape: T,
  value: unknown,
  kind: "body" | "query",
): z.output<T> {
  const result = shape.safeParse(value, { error: wording });
  if (result.success) return result.data;
  const issues = result.error.issues.slice(0, MAX_ISSUES).map(toIssue);
  const first = issues[0];
  const where = first === undefined || first.path === "" ? kind : first.path;
  const text = `${where}: ${first?.message ?? "not valid"}`;
  const wrongShape = kind === "query" || result.error.issues.some(({ code }) => SHAPE.has(code));
  throw wrongShape
    ? new AppError("invalid_params", `Invalid request: ${text}`, { issues })
    : new AppError("params_validation", `Validation error: ${text}`, { issues });
}
