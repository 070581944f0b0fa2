import { expect, test } from "vitest";
import { seal, unseal } from "./seal.ts";

const SECRET = "s".repeat(32);

// Guarantee: what was sealed opens for the same secret, purpose and place only, and never after a change.
test("sealed text", () => {
  const sealed = seal(SECRET, "data", "row 1", "Zoë");
  expect(unseal(SECRET, "data", "row 1", sealed)).toBe("Zoë");
  expect(sealed.includes("Zo")).toBe(false);
  expect(seal(SECRET, "data", "row 1", "Zoë").equals(sealed)).toBe(false);
  expect(() => unseal("x".repeat(32), "data", "row 1", sealed)).toThrow();
  expect(() => unseal(SECRET, "webhook", "row 1", sealed)).toThrow();
  expect(() => unseal(SECRET, "data", "row 2", sealed)).toThrow();
  for (const at of sealed.keys()) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => unseal(SECRET, "data", "row 1", changed)).toThrow();
  }
});
