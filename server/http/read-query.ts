import { z } from "zod";
import { AppError } from "#server/platform/app-error.ts";
import { validate } from "./validate.ts";

/** Whether a parameter may come more than once: its shape is a list then, and a single one is a list of one. */
function isRepeatable(shape: unknown): boolean {
  if (shape instanceof z.ZodOptional || shape instanceof z.ZodDefault)
    return isRepeatable(shape.unwrap());
  return shape instanceof z.ZodArray;
}

function readOne(name: string, values: string[]): string | undefined {
  const [value, again] = values;
  if (again === undefined) return value;
  throw new AppError("invalid_params", `Invalid request: ${name} is given more than once`, {
    issues: [{ path: name, field: name, message: "is given more than once" }],
  });
}

/** The query as the endpoint knows it: unknown parameters are ignored, one that comes twice is refused unless its shape is a list. */
export function readQuery<T extends z.ZodType>(shape: T, url: string): z.output<T> {
  const start = url.indexOf("?");
  const given: Record<string, string | string[]> = {};
  if (start !== -1 && "shape" in shape) {
    const search = new URLSearchParams(url.slice(start));
    for (const [name, member] of Object.entries(shape.shape as object)) {
      const values = search.getAll(name);
      if (values.length === 0) continue;
      const value = isRepeatable(member) ? values : readOne(name, values);
      if (value !== undefined) given[name] = value;
    }
  }
  return validate(shape, given, "query");
}
