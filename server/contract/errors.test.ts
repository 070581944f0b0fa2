import { expect, test } from "vitest";
import { possibleErrors } from "./endpoint.ts";
import { ERROR_STATUS } from "./errors.ts";
import { ENDPOINTS } from "./index.ts";

// Wallets know the rest of the codes, and fail on these four.
const UNKNOWN_TO_WALLETS = [
  "customer_not_found",
  "executor_not_found",
  "payment_not_succeeded",
  "already_refunded",
];

// Guarantee: a wallet is never answered with a code it cannot read.
test("gateway endpoints answer codes wallets know", () => {
  for (const endpoint of ENDPOINTS.filter(({ auth }) => auth === "gateway"))
    expect(possibleErrors(endpoint).filter((code) => UNKNOWN_TO_WALLETS.includes(code))).toEqual(
      [],
    );
});

// Guarantee: the statuses clients act on are the documented ones.
test.for([
  ["invalid_params", 400],
  ["missing_api_key", 401],
  ["not_sandbox_api_key", 403],
  ["payment_not_found", 404],
  ["quote_expired", 409],
  ["payment_expired", 410],
  ["rate_limited", 429],
  ["sanctioned_user", 451],
  ["internal_error", 500],
] as const)("%s is %d", ([code, status]) => {
  expect(ERROR_STATUS[code]).toBe(status);
});

// Guarantee: the gateway never refuses a version it knows.
test("no gateway endpoint can answer a downgrade", () => {
  const gateway = ENDPOINTS.filter(({ auth }) => auth === "gateway");
  expect(gateway.flatMap(possibleErrors)).not.toContain("api_version_downgrade");
});
