import fc from "fast-check";
import { expect, test } from "vitest";
import { accentCss, accentIn, contrast } from "./accent.ts";

const colour = fc
  .tuple(fc.nat(255), fc.nat(255), fc.nat(255))
  .map((rgb) => `#${rgb.map((one) => one.toString(16).padStart(2, "0")).join("")}`);

// Guarantee: whatever colour a merchant chooses, buttons and links stay readable in both schemes.
test("every accent is readable", () => {
  fc.assert(
    fc.property(colour, fc.constantFrom("light" as const, "dark" as const), (hex, scheme) => {
      const made = accentIn(hex, scheme);
      if (made === null) throw new Error(hex);
      const card = scheme === "light" ? ([255, 255, 255] as const) : ([29, 28, 25] as const);
      expect(contrast(made.ground, card)).toBeGreaterThanOrEqual(4.5);
      expect(contrast(made.ground, made.ink)).toBeGreaterThanOrEqual(4.5);
    }),
  );
});

// Guarantee: nothing but a colour reaches the style sheet.
test("what is no colour is left out", () => {
  for (const bad of ["red", "#fff", "#12345g", "#123456}body{display:none", ""])
    expect(accentCss(bad)).toBeNull();
  expect(accentCss(null)).toBeNull();
  expect(accentCss("#1a5fd6")).toMatch(/^:root\{--accent:#[0-9a-f]{6};/);
});
