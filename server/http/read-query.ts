import type { z } from "zod";
import { AppError } from "#server/platform/app-error.ts";
import { validate } from "./validate.ts";

/** The query as the endpoint knows it: unknown parameters are ignored, a known one that comes twice is refused. */
export function readQuery<T extends z.ZodType>(shape: T, url: string): z.output<T> {
  const start = url.indexOf("?");
  const given: Record<string, string> = {};
  if (start !== -1 && "shape" in shape) {
    const search = new URLSearchParams(url.slice(start));
    for (const name of Object.keys(shape.shape as object)) {
      const [value, again] = search.getAll(name);
      if (again !== undefined)
        throw new AppError("invalid_params", `Invalid request: ${name} is given more than once`, {
          issues: [{ path: name, field: name, message: "is given more than once" }],
        });
      if (value !== undefined) given[name] = value;
    }
  }
  return validate(shape, given, "query");
}
