import { expect, test } from "vitest";
import { GATEWAY_RETRY_S, LIMIT_NAMES, LIMITS } from "./limits.ts";

// Guarantee: a wallet that is refused is served again within the two seconds it waits, whichever limit refused it.
test.for(LIMIT_NAMES.filter((name) => name !== "key"))("the window of %s", (name) => {
  expect(LIMITS[name].windowS).toBeLessThanOrEqual(GATEWAY_RETRY_S);
});

// Guarantee: who tries the sandbox out is never more limited than who pays with real money.
test.for(LIMIT_NAMES)("%s in the sandbox", (name) => {
  expect(LIMITS[name].sandboxCalls).toBeGreaterThanOrEqual(LIMITS[name].calls);
});
