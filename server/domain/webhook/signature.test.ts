import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { signatureHeaders, signingSecret } from "./signature.ts";

const OLD = signingSecret(new Uint8Array(32).fill(1));
const NEW = signingSecret(new Uint8Array(32).fill(2));
const BODY = JSON.stringify({ id: "evt_1", note: "Grüße 🧾" });
const now = Math.floor(Date.now() / 1000);

// Guarantee: anybody's Standard Webhooks library verifies what we sign, with either secret during a rotation.
test("both secrets verify, a third does not, and neither does another body", () => {
  const headers = signatureHeaders("evt_1", now, BODY, [NEW, OLD]);
  expect(headers["webhook-signature"]?.split(" ")).toHaveLength(2);
  for (const secret of [NEW, OLD])
    expect(new Webhook(secret).verify(BODY, headers)).toEqual(JSON.parse(BODY));
  const other = signingSecret(new Uint8Array(32).fill(3));
  expect(() => new Webhook(other).verify(BODY, headers)).toThrow("No matching signature");
  expect(() => new Webhook(NEW).verify(`${BODY} `, headers)).toThrow("No matching signature");
  const late = { ...headers, "webhook-timestamp": `${now - 1}` };
  expect(() => new Webhook(NEW).verify(BODY, late)).toThrow("No matching signature");
});

// Guarantee: receivers built for Svix read the same values under its names.
test("both families of headers are equal", () => {
  const headers = signatureHeaders("evt_1", now, BODY, [NEW]);
  expect(Object.keys(headers)).toHaveLength(6);
  for (const name of ["id", "timestamp", "signature"])
    expect(headers[`svix-${name}`]).toBe(headers[`webhook-${name}`]);
});
