import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type PaymentLink, readPaymentLink } from "./payment-link.ts";

const ID = "pay_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const HOST = { payHost: "pay.example.com" };

const found = (form: string, paymentId = ID) => ({ kind: "payment", paymentId, form });
const encoded = (text: string) => encodeURIComponent(text);

// Guarantee: each of the four link forms opens the payment it names.
test.for<[string, string]>([
  [`https://pay.example.com/${ID}`, "path"],
  [`https://pay.example.com/${ID}/`, "path"],
  [`https://pay.example.com/en/checkout/${ID}`, "path"],
  [`https://pay.example.com/${ID}?utm=x#top`, "path"],
  [`https://pay.example.com/${ID}?pid=${ID}`, "path"],
  [`https://eu.pay.example.com/${ID}`, "path"],
  [`https://a.b.pay.example.com/${ID}`, "path"],
  [`HTTPS://PAY.EXAMPLE.COM/${ID}`, "path"],
  [`https://pay.example.com:443/${ID}`, "path"],
  [` https://pay.example.com/${ID}\n`, "path"],
  [`https://pay.example.com/?pid=${ID}`, "query"],
  [`https://pay.example.com?pid=${ID}`, "query"],
  [`https://pay.example.com/buy?x=1&pid=${ID}`, "query"],
  [`https://pay.example.com/?pid=${ID.replace("_", "%5F")}`, "query"],
  [
    `wc:8a5e@2?relay-protocol=irn&symKey=41&pay=${encoded(`https://pay.example.com/${ID}`)}`,
    "pairing",
  ],
  [`wc:8a5e@2?pay=${encoded(`https://pay.example.com/?pid=${ID}`)}`, "pairing"],
  [`wc:8a5e@2?pay=${ID}`, "pairing"],
  [`WC:8a5e@2?pay=${encoded(`https://pay.example.com/${ID}`)}`, "pairing"],
  [ID, "bare"],
  ["pay_x", "bare"],
])("%s is read as %s", ([text, form]) => {
  const paymentId = text === "pay_x" ? "pay_x" : ID;
  expect(readPaymentLink(text, HOST)).toEqual(found(form, paymentId));
});

// Guarantee: a link that only looks like one of the pay host opens nothing.
test.for<[string, string]>([
  [`https://pay.example.com.evil.example/${ID}`, "untrusted_host"],
  [`https://pay.example.comevil.example/${ID}`, "untrusted_host"],
  [`https://evilpay.example.com/${ID}`, "untrusted_host"],
  [`https://evil-pay.example.com/${ID}`, "untrusted_host"],
  [`https://example.com/${ID}`, "untrusted_host"],
  [`https://evil.example/pay.example.com/${ID}`, "untrusted_host"],
  [`https://evil.example/?pid=${ID}&host=pay.example.com`, "untrusted_host"],
  [`https://evil.example#@pay.example.com/${ID}`, "untrusted_host"],
  [`https://pay.example.com@evil.example/${ID}`, "untrusted_host"],
  [`https://pay.example.com:443@evil.example/${ID}`, "untrusted_host"],
  [`https://user@pay.example.com/${ID}`, "untrusted_host"],
  [`https://user:secret@pay.example.com/${ID}`, "untrusted_host"],
  [`https://@pay.example.com/${ID}`, "untrusted_host"],
  [`https://pay.example.com./${ID}`, "untrusted_host"],
  [`https://pay.example.com:8443/${ID}`, "untrusted_host"],
  [`https://pay.example.com:80/${ID}`, "untrusted_host"],
  [`https://pay%2eexample%2ecom/${ID}`, "untrusted_host"],
  [`https://evil.example%2f.pay.example.com/${ID}`, "malformed"],
  [`https://evil.example%00.pay.example.com/${ID}`, "malformed"],
  [`https://xn--py-7kc.example.com/${ID}`, "untrusted_host"],
  [`https:///pay.example.com/${ID}`, "untrusted_host"],
  [`https:/pay.example.com/${ID}`, "malformed"],
  [`https:pay.example.com/${ID}`, "malformed"],
  [`//pay.example.com/${ID}`, "malformed"],
  [`pay.example.com/${ID}`, "malformed"],
  [`http://pay.example.com/${ID}`, "insecure"],
  [`http://pay.example.com:443/${ID}`, "untrusted_host"],
  [`ftp://pay.example.com/${ID}`, "malformed"],
  [`javascript:https://pay.example.com/${ID}`, "malformed"],
  [`https://2130706433/${ID}`, "untrusted_host"],
  // Everything URL parsers repair or map is refused before one sees it.
  [`https://pay.example.com\\@evil.example/${ID}`, "malformed"],
  [`https://evil.example\\.pay.example.com/${ID}`, "malformed"],
  [`https:\\\\pay.example.com\\${ID}`, "malformed"],
  [`https://pay.exam\tple.com/${ID}`, "malformed"],
  [`https://pay.exam\nple.com/${ID}`, "malformed"],
  [`java\nscript:https://pay.example.com/${ID}`, "malformed"],
  [`\thttps://pay.example.com/${ID}`, "malformed"],
  [`https://pay.example.com/${ID}\u0000`, "malformed"],
  [`https://pay。example。com/${ID}`, "malformed"],
  [`https://pаy.example.com/${ID}`, "malformed"], // Cyrillic а
  [`https://ｐａｙ.example.com/${ID}`, "malformed"],
  [`https://pay.exam\u00adple.com/${ID}`, "malformed"],
  [`https://pay.example.com/pay_１２３`, "malformed"],
  [`https://pay.example.com/${ID}\u202e`, "malformed"],
  // The host is fine, the id is not.
  ["https://pay.example.com/", "no_payment_id"],
  ["https://pay.example.com/pay_", "no_payment_id"],
  [`https://pay.example.com/pay_${"A".repeat(61)}`, "no_payment_id"],
  [`https://pay.example.com/${ID}/receipt`, "no_payment_id"],
  [`https://pay.example.com/${ID}%2f..%2fpay_evil`, "no_payment_id"],
  [`https://pay.example.com/?PID=${ID}`, "no_payment_id"],
  [`https://pay.example.com/?pid=%20${ID}`, "no_payment_id"],
  [`https://pay.example.com/?pid=https://evil.example/${ID}`, "no_payment_id"],
  [`https://pay.example.com/#?pid=${ID}`, "no_payment_id"],
  [`https://pay.example.com/?pid=${ID}&pid=pay_other`, "ambiguous"],
  [`https://pay.example.com/${ID}?pid=pay_other`, "ambiguous"],
  // Pairing URIs.
  ["wc:8a5e@2?relay-protocol=irn&symKey=41", "pairing_without_payment"],
  [`wc:8a5e@2?pay=${encoded(`https://evil.example/${ID}`)}`, "untrusted_host"],
  [`wc:8a5e@2?pay=${encoded(`https://pay.example.com@evil.example/${ID}`)}`, "untrusted_host"],
  [`wc:8a5e@2?pay=${encoded(encoded(`https://pay.example.com/${ID}`))}`, "malformed"],
  [`wc:8a5e@2?pay=${encoded(`wc:8a5e@2?pay=${ID}`)}`, "malformed"],
  [`wc:8a5e@2?pay=${ID}&pay=pay_other`, "ambiguous"],
  ["wc:8a5e@2?pay=", "malformed"],
  // Bare texts.
  ["", "malformed"],
  ["pay_", "malformed"],
  ["PAY_1", "malformed"],
  ["pay_x?x=1", "malformed"],
  ["pay_a/b", "malformed"],
  ["pay_１", "malformed"],
  ["hello", "malformed"],
  [`pay_${"A".repeat(61)}`, "malformed"],
])("%j is refused", ([text, reason]) => {
  expect(readPaymentLink(text, HOST)).toEqual({ kind: "not_payment", reason });
});

describe("where the pay host is loopback", () => {
  // Guarantee: plain http works on this machine and never anywhere else.
  test.for<[string, string, PaymentLink["kind"]]>([
    ["127.0.0.1:3000", `http://127.0.0.1:3000/${ID}`, "payment"],
    ["127.0.0.1:3000", `https://127.0.0.1:3000/${ID}`, "payment"],
    ["localhost:3000", `http://localhost:3000/?pid=${ID}`, "payment"],
    ["shop.localhost:3000", `http://shop.localhost:3000/${ID}`, "payment"],
    ["[::1]:3000", `http://[::1]:3000/${ID}`, "payment"],
    ["localhost", `http://localhost/${ID}`, "payment"],
    ["127.0.0.1:80", `http://127.0.0.1/${ID}`, "payment"],
    ["127.0.0.1:3000", `http://127.0.0.1:3001/${ID}`, "not_payment"],
    ["127.0.0.1:3000", `http://127.0.0.1/${ID}`, "not_payment"],
    ["127.0.0.1:3000", `http://127.1:3000/${ID}`, "not_payment"],
    ["127.0.0.1:3000", `http://0x7f000001:3000/${ID}`, "not_payment"],
    ["127.0.0.1:3000", `http://evil.127.0.0.1:3000/${ID}`, "not_payment"],
    ["127.0.0.1:3000", `http://127.0.0.1:3000@evil.example/${ID}`, "not_payment"],
    ["127.0.0.1:3000", `http://127.0.0.1.evil.example:3000/${ID}`, "not_payment"],
    ["192.168.1.5:3000", `http://192.168.1.5:3000/${ID}`, "not_payment"],
    ["localhost.example.com:3000", `http://localhost.example.com:3000/${ID}`, "not_payment"],
    ["127.example.com", `http://127.example.com/${ID}`, "not_payment"],
  ])("on %s, %s is %s", ([payHost, text, kind]) => {
    expect(readPaymentLink(text, { payHost }).kind).toBe(kind);
  });
});

// Guarantee: a mistyped setting never widens what is trusted.
test.for([
  "",
  "https://pay.example.com",
  "pay.example.com/x",
  "u@pay.example.com",
  "pay.exаmple.com",
])("%j is no pay host", (payHost) => {
  expect(() => readPaymentLink(ID, { payHost })).toThrow(TypeError);
});

const idArbitrary = fc
  .string({ unit: fc.constantFrom(..."ABCXYZabcxyz019"), minLength: 1, maxLength: 60 })
  .map((body) => `pay_${body}`);

// Guarantee: wherever an id may stand in a link, it comes back unchanged.
test("every id survives every form", () => {
  fc.assert(
    fc.property(idArbitrary, (id) => {
      const path = `https://pay.example.com/${id}`;
      const query = `https://pay.example.com/?pid=${id}`;
      for (const link of [
        id,
        path,
        query,
        `wc:a@2?pay=${encoded(path)}`,
        `wc:a@2?pay=${encoded(query)}`,
      ])
        expect(readPaymentLink(link, HOST)).toMatchObject({ kind: "payment", paymentId: id });
    }),
  );
});

// Guarantee: whatever stands between scheme and path, only the pay host and its subdomains are trusted.
test("no authority but the trusted one opens a payment", () => {
  const piece = fc.constantFrom(
    ..."@:/?#.\\%[] \t",
    "pay",
    "example",
    "com",
    "evil",
    "pay.example.com",
    "443",
    "xn--",
    "%40",
    "。",
    "０",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const text = `https://${pieces.join("")}/${ID}`;
      if (readPaymentLink(text, HOST).kind !== "payment") return;
      expect(text).toMatch(/^https:\/\/([A-Za-z0-9-]+\.)*pay\.example\.com(:443)?\//);
    }),
    { numRuns: 5000 },
  );
});

// Guarantee: no scanned text can crash a wallet.
test("any text has an answer", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.webUrl()), (text) => {
      for (const full of [
        text,
        `wc:${text}`,
        `wc:a@2?pay=${text}`,
        `https://pay.example.com/${text}`,
      ])
        expect(["payment", "not_payment"]).toContain(readPaymentLink(full, HOST).kind);
    }),
  );
});
