import { expect, test } from "vitest";
import { isDowngrade, readVersion } from "./version.ts";

// Guarantee: only versions this server speaks are applied, and the two ways of being wrong are told apart.
test.for([
  ["2026-02-18", { kind: "version", version: "2026-02-18" }],
  ["2026-02-19.preview", { kind: "version", version: "2026-02-19.preview" }],
  ["2026-02-19", { kind: "refused", code: "unknown_api_version" }],
  ["2026-02-18.preview", { kind: "refused", code: "unknown_api_version" }],
  ["2026-2-18", { kind: "refused", code: "invalid_api_version" }],
  ["2026-02-18 ", { kind: "refused", code: "invalid_api_version" }],
  ["2026-02-18, 2026-02-18", { kind: "refused", code: "invalid_api_version" }],
  ["", { kind: "refused", code: "invalid_api_version" }],
] as const)("%s", ([value, expected]) => {
  expect(readVersion(value)).toEqual(expected);
});

// Guarantee: a partner is never served an older contract than the one it was built for.
test("asking for less than the pin is a downgrade, for the pin or more is not", () => {
  expect(isDowngrade("2026-02-18", "2026-02-19.preview")).toBe(true);
  expect(isDowngrade("2026-02-18", "2026-02-18")).toBe(false);
  expect(isDowngrade("2026-02-19.preview", "2026-02-18")).toBe(false);
});
