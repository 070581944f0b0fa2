import { expect, test } from "vitest";
import { MERCHANT } from "#server/testing/callers.ts";
import { canonicalJson, readClaim } from "./idempotency.ts";

const claim = (key: string, body: unknown, by = MERCHANT as typeof MERCHANT) =>
  readClaim(new Headers({ "idempotency-key": key }), by, "/v1/merchant/payment", body);

// Guarantee: a repetition is known by what it says, not by the order or spacing it is written in.
test("the same body has one spelling", () => {
  const one = JSON.parse('{"a":1,"b":{"c":[1,2],"d":"é"}}');
  const same = JSON.parse('{ "b":{"d":"\\u00e9","c":[1,2]}, "a":1.0 }');
  expect(canonicalJson(one)).toBe('{"a":1,"b":{"c":[1,2],"d":"é"}}');
  expect(canonicalJson(same)).toBe(canonicalJson(one));
  expect(claim("k", one)).toEqual(claim("k", same));
  expect(claim("k", one)?.fingerprint).not.toEqual(claim("k", { ...one, a: 2 })?.fingerprint);
  expect(claim("k", one)?.fingerprint).toHaveLength(32);
});

// Guarantee: a key belongs to its MERCHANT, environment and merchant.
test("scopes differ", () => {
  const scopes = [
    claim("k", {}),
    claim("k", {}, { ...MERCHANT, merchantId: "mer_2" } as never),
    claim("k", {}, { ...MERCHANT, partnerId: "par_2" } as never),
    claim("k", {}, { ...MERCHANT, environment: "live" } as never),
  ].map((one) => one?.scope);
  expect(new Set(scopes).size).toBe(4);
});

// Guarantee: a key the database would refuse is refused before it.
test.for(["", "k".repeat(256), "caf\u00e9"])("%j is no key", (key) => {
  expect(() => claim(key, {})).toThrow(expect.objectContaining({ code: "params_validation" }));
});

// Guarantee: without a key nothing is stored.
test("no header, no claim", () => {
  expect(readClaim(new Headers(), MERCHANT, "/v1/merchant/payment", {})).toBeNull();
});
