import type { z } from "zod";
import { AppError, type Issue } from "#server/platform/app-error.ts";

/** Findings that say the shape is wrong; any other says that a rule was broken. */
const SHAPE = new Set(["invalid_type", "invalid_union", "invalid_value", "invalid_element"]);
const MAX_ISSUES = 20;

/** Findings of a shape, innermost first where a member had to be one of several shapes. */
function toIssue(found: z.core.$ZodIssue): Issue {
  const path = found.path.map(String).join(".");
  return { path, field: String(found.path[0] ?? ""), message: found.message };
}

/** `value` as the shape has it, unknown members dropped; refuses anything else and names every wrong member. */
export function validate<T extends z.ZodType>(
  shape: T,
  value: unknown,
  kind: "body" | "query",
): z.output<T> {
  const result = shape.safeParse(value);
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
