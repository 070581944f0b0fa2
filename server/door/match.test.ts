import { expect, test } from "vitest";
import { ENDPOINTS } from "#server/contract/index.ts";
import { createMatcher, pathOf } from "./match.ts";
import { ROUTES } from "./routes.ts";

const match = createMatcher(ROUTES);

// Guarantee: the front door serves exactly what the contract lists.
test("the route table is the contract", () => {
  const table = Object.entries(ROUTES).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => method !== "OPTIONS")
      .map((method) => `${method} ${path}`),
  );
  expect(table.toSorted()).toEqual(
    ENDPOINTS.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
});

// Guarantee: doubled and trailing slashes do not hide an endpoint.
test.for([
  ["/v1/payments/pay_1?a=//b", "/v1/payments/pay_1"],
  ["//v1/payments/pay_1", "/v1/payments/pay_1"],
  ["/v1/payments/pay_1/", "/v1/payments/pay_1"],
  ["/", "/"],
  ["//", "/"],
] as const)("%s is %s", ([target, path]) => {
  expect(pathOf(target)).toBe(path);
});

// Guarantee: a path parameter arrives decoded once, and one that cannot be decoded is told apart from an unknown path.
test.for([
  ["/v1/payments/a%2Fb", "found"],
  ["/v1/payments/%zz", "malformed"],
  ["/v1/payments/", "unknown"],
  ["/v1/payments//x", "unknown"],
  ["/v1/payments/a/b", "unknown"],
  ["/v1/merchant/payment", "found"],
  ["/v1/toString", "unknown"],
  ["/v1/gateway/payment/a/confirm", "found"],
] as const)("%s is %s", ([path, kind]) => {
  expect(match(path).kind).toBe(kind);
});

// Guarantee: what was encoded twice is still encoded once for the handler, which knows what to make of it.
test("the parameter of a path", () => {
  expect(match("/v1/payments/a%252Fb")).toMatchObject({ params: { id: "a%2Fb" } });
});
