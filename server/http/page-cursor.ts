import { AppError } from "#server/platform/app-error.ts";
import type { Position } from "#server/ports/merchants.ts";

const KEY = /^[0-9]{1,80}$/;
const TIME_KEY = /^[0-9]{1,16}$/;
const ID = /^[A-Za-z0-9_-]{1,100}$/;

const encode = (parts: string[]): string => Buffer.from(parts.join(" ")).toString("base64url");

/** A position as the opaque text a caller hands back; `sort` names the list and its order. Null: the last page. */
export const writeCursor = (sort: string, next: Position | null): string | null =>
  next === null ? null : encode([sort, next.key, next.id]);

/** The position a cursor stands for; refuses one of another list or order. `sort` starts with `time` where keys are times. */
export function readCursor(sort: string, cursor: string | undefined): Position | null {
  if (cursor === undefined) return null;
  const [made, key = "", id = ""] = Buffer.from(cursor, "base64url").toString("latin1").split(" ");
  const format = sort.startsWith("time") ? TIME_KEY : KEY;
  if (made !== sort || !format.test(key) || !ID.test(id) || cursor !== encode([sort, key, id]))
    throw new AppError("invalid_params", "Invalid request: cursor: is not one of this list", {
      issues: [{ path: "cursor", field: "cursor", message: "is not one of this list" }],
    });
  return { key, id };
}
