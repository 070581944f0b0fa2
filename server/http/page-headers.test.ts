import { expect, test } from "vitest";
import { contentPolicy, pageSecurity } from "./page-security.ts";
import { requireOwnOrigin } from "./same-origin.ts";

const OWN = { checkoutUrl: "https://pay.shop.test", baseUrl: "https://api.shop.test" };
const allowed = (headers: Record<string, string>): boolean => {
  try {
    requireOwnOrigin(new Headers(headers), OWN);
    return true;
  } catch {
    return false;
  }
};

// Guarantee: a page asks for encryption from now on where there is real money, and only there.
test("strict transport", () => {
  expect(pageSecurity("nobody", "live").headers["Strict-Transport-Security"]).toMatch(
    /^max-age=\d/,
  );
  expect(pageSecurity("nobody", "sandbox").headers["Strict-Transport-Security"]).toBeUndefined();
});

// Guarantee: pages of the developer's own machine may frame a form in a sandbox, and no page without https may anywhere else.
test("ancestors", () => {
  expect(contentPolicy("n", "anybody", "live")).toMatch(/frame-ancestors https:$/);
  expect(contentPolicy("n", "anybody", "staging")).toMatch(/frame-ancestors https:$/);
  expect(contentPolicy("n", "anybody", "sandbox")).toContain("http://localhost:*");
  expect(contentPolicy("n", [], "live")).toMatch(/frame-ancestors 'none'$/);
  expect(pageSecurity([], "live").headers["X-Frame-Options"]).toBe("DENY");
  expect(pageSecurity(["https://a.b"], "live").headers["X-Frame-Options"]).toBeUndefined();
});

// Guarantee: the browser's own word counts first; where there is none, a page's origin must be one of ours.
test("origins", () => {
  expect(allowed({})).toBe(true);
  expect(allowed({ "sec-fetch-site": "same-origin", origin: "http://anything" })).toBe(true);
  expect(allowed({ "sec-fetch-site": "cross-site" })).toBe(false);
  expect(allowed({ "sec-fetch-site": "same-site", origin: OWN.checkoutUrl })).toBe(false);
  expect(allowed({ origin: "https://pay.shop.test" })).toBe(true);
  expect(allowed({ origin: "https://api.shop.test" })).toBe(true);
  expect(allowed({ origin: "http://pay.shop.test" })).toBe(false);
  expect(allowed({ origin: "http://192.168.1.5:3000", host: "192.168.1.5:3000" })).toBe(true);
  expect(allowed({ origin: "https://evil.test", host: "pay.shop.test" })).toBe(false);
  expect(allowed({ origin: "null", host: "null" })).toBe(false);
});
