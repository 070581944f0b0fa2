import { expect, test } from "vitest";
import { readPaymentId } from "./payment-id.ts";

const ID = "pay_0123456789ABCDEFGHJKMNPQRS";
const hosts = {
  payHost: "pay.shop.test",
  checkoutUrl: "https://checkout.shop.test:8443",
  baseUrl: "http://127.0.0.1:3000",
};
const once = encodeURIComponent;
const twice = (link: string) => once(once(link));

// Guarantee: a wallet that was given a link of ours, and takes the whole of it for the id, still pays the right payment.
test.for([
  `https://pay.shop.test/${ID}`,
  `https://pay.shop.test/${ID}/`,
  `https://pay.shop.test/?pid=${ID}`,
  `https://eu.pay.shop.test/?pid=${ID}`,
  `https://checkout.shop.test:8443/${ID}`,
  `http://127.0.0.1:3000/buy?pid=${ID}`,
  `HTTPS://PAY.SHOP.TEST/${ID}`,
])("%s is an id, in clear and percent-encoded once and twice", (link) => {
  for (const segment of [link, once(link), twice(link)])
    expect(readPaymentId(segment, hosts)).toBe(ID);
});

// Guarantee: a link on somebody else's host names nothing of ours, and nothing but an id or such a link is one.
test.for([
  `https://evil.test/${ID}`,
  `https://pay.shop.test.evil.test/?pid=${ID}`,
  `https://evilpay.shop.test/?pid=${ID}`,
  `https://pay.shop.test@evil.test/${ID}`,
  `https://checkout.shop.test/${ID}`,
  `javascript://pay.shop.test/${ID}`,
  `https://pay.shop.test/${ID}/more`,
  once(twice(`https://pay.shop.test/${ID}`)),
  "%zz",
  "%",
  "",
  "pay_",
  "pay_a/b",
  `${ID}\u0000`,
  `pay_${"A".repeat(61)}`,
])("%s is no id", (segment) => {
  expect(() => readPaymentId(segment, hosts)).toThrow(
    expect.objectContaining({ code: "payment_not_found", message: "Payment not found" }),
  );
});

// Guarantee: merchants name payments by their ids alone.
test("without hosts only a bare id is one", () => {
  expect(readPaymentId(ID, null)).toBe(ID);
  expect(() => readPaymentId(`https://pay.shop.test/${ID}`, null)).toThrow("Payment not found");
});
