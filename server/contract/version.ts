/** Versions this server speaks, oldest first. A preview must be asked for and is never a pin. */
export const API_VERSIONS = ["2026-02-18", "2026-02-19.preview"] as const;

export type ApiVersion = (typeof API_VERSIONS)[number];

/** What a partner created today is pinned to, and what callers without a pin get. */
export const NEWEST_STABLE: ApiVersion = "2026-02-18";

/** Names of the version header, the deciding one first. */
export const VERSION_HEADERS = ["service-version", "wcp-version", "api-version"] as const;

const FORMAT = /^\d{4}-\d{2}-\d{2}(\.preview)?$/;

/** A requested version, or the code it is refused with. */
export type AskedVersion =
  | { kind: "version"; version: ApiVersion }
  | { kind: "refused"; code: "invalid_api_version" | "unknown_api_version" };

/** Reads the value of a version header. */
export function readVersion(value: string): AskedVersion {
  const known = API_VERSIONS.find((version) => version === value);
  if (known !== undefined) return { kind: "version", version: known };
  return {
    kind: "refused",
    code: FORMAT.test(value) ? "unknown_api_version" : "invalid_api_version",
  };
}

const BY_AGE: readonly string[] = API_VERSIONS;

/** Whether `asked` is older than what the partner is pinned to; an unknown pin refuses nothing. */
export const isDowngrade = (asked: ApiVersion, pin: string): boolean =>
  BY_AGE.indexOf(asked) < BY_AGE.indexOf(pin);
