import {
  type ApiVersion,
  isDowngrade,
  NEWEST_STABLE,
  readVersion,
  VERSION_HEADERS,
} from "#server/contract/version.ts";
import { AppError } from "#server/platform/app-error.ts";

/** The version an answer names: the one asked for, else the caller's pin. */
export type AppliedVersion = string;

const MESSAGES = {
  invalid_api_version: "The version header must look like 2026-02-18 or 2026-02-19.preview",
  unknown_api_version: "This API version does not exist",
} as const;

/** The version a request asks for, by the first version header that is there; null: none. */
export function askedVersion(headers: Headers): ApiVersion | null {
  for (const name of VERSION_HEADERS) {
    const value = headers.get(name);
    if (value === null) continue;
    const asked = readVersion(value);
    if (asked.kind === "refused") throw new AppError(asked.code, MESSAGES[asked.code]);
    return asked.version;
  }
  return null;
}

/** Settles the version of a caller with a pin; the gateway passes null, since it refuses no version it knows. */
export function applyVersion(asked: ApiVersion | null, pin: string | null): AppliedVersion {
  if (asked === null) return pin ?? NEWEST_STABLE;
  if (pin !== null && isDowngrade(asked, pin))
    throw new AppError("api_version_downgrade", `This account is pinned to ${pin} or newer`);
  return asked;
}

/** Whether a caller is a deployed terminal, which knows statuses by their unprojected names. */
export const namesOlderHeader = (headers: Headers): boolean =>
  headers.has("wcp-version") || headers.has("api-version");
