import { AppError } from "#server/platform/app-error.ts";

/** Headers whose bytes are looked at: credentials, versions, keys of repetition, and what a client calls itself. */
const CHECKED = [
  "api-key",
  "merchant-id",
  "app-id",
  "client-id",
  "service-version",
  "wcp-version",
  "api-version",
  "idempotency-key",
  "sdk-name",
  "sdk-version",
  "sdk-platform",
] as const;

const ASCII = /^[\x20-\x7e]*$/;

/** Refuses bytes outside printable ASCII: they do reach a handler, one character for each byte. */
export function checkHeaders(headers: Headers): void {
  for (const name of CHECKED) {
    const value = headers.get(name);
    if (value !== null && !ASCII.test(value))
      throw new AppError("header_not_ascii", `The header ${name} must be printable ASCII`);
  }
}
