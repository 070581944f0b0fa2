import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { signatureHeaders } from "#server/domain/webhook/signature.ts";
import { verifyWebhook } from "./webhook.ts";

const SECRET = `whsec_${btoa("0123456789abcdefghijklmnopqrstuv")}`;
const OLD = `whsec_${btoa("another secret of thirty-two byte")}`;
const AT = 1_795_255_200;
const event = {
  id: "evt_1",
  type: "payment.succeeded",
  data: { payment_id: "pay_1", note: "€ 😀" },
};
const body = JSON.stringify(event);
const signed = (secrets: string[] = [SECRET]) => signatureHeaders("evt_1", AT, body, secrets);
const verify = (
  secrets: string | string[],
  headers: Record<string, string>,
  text = body,
  at = AT,
) => verifyWebhook(secrets, { headers, body: text }, at * 1000);

// Guarantee: what the service sends is accepted, and so is what any Standard Webhooks sender signs.
test("a genuine webhook gives its event", async () => {
  expect(await verify(SECRET, signed())).toEqual(event);
  const signature = new Webhook(SECRET).sign("evt_1", new Date(AT * 1000), body);
  const headers = new Headers({
    "Webhook-Id": "evt_1",
    "Webhook-Timestamp": `${AT}`,
    "Webhook-Signature": `v1a,AAAA v2,b ${signature}`,
  });
  expect(await verifyWebhook(SECRET, { headers, body }, AT * 1000)).toEqual(event);
});

// Guarantee: a rotation of the secret loses no event, on either side.
test("one fitting pair of secret and signature is enough", async () => {
  expect(await verify([OLD, SECRET], signed())).toEqual(event);
  expect(await verify(SECRET, signed([OLD, SECRET]))).toEqual(event);
});

// Guarantee: nobody without the secret can make a shop believe it was paid.
test.for([
  ["another body", signed(), body.replace("pay_1", "pay_2"), AT],
  ["another id", { ...signed(), "webhook-id": "evt_2" }, body, AT],
  ["another time", { ...signed(), "webhook-timestamp": `${AT + 1}` }, body, AT],
  ["another secret", signed([OLD]), body, AT],
  ["no signature", { ...signed(), "webhook-signature": "" }, body, AT],
  ["an empty signature", { ...signed(), "webhook-signature": "v1," }, body, AT],
  ["no base64", { ...signed(), "webhook-signature": "v1,***" }, body, AT],
  ["no headers", {}, body, AT],
  ["an old message", signed(), body, AT + 301],
  ["a message from the future", signed(), body, AT - 301],
] as const)("%s is refused", async ([, headers, text, at]) => {
  await expect(verify(SECRET, { ...headers }, text, at)).rejects.toThrow(
    expect.objectContaining({ name: "WebhookError" }),
  );
});

// Guarantee: a shop that forgot its secret notices, instead of accepting what anybody signs with nothing.
test.for(["", "whsec_", "whsec_***"])("the secret %j is none", async (secret) => {
  await expect(verify(secret, signed())).rejects.toThrow(TypeError);
});
