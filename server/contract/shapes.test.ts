import { expect, test } from "vitest";
import { fiatAmount, tokenAmount } from "./display.ts";
import { createMerchantPayment } from "./merchant.ts";
import { amount, maxPollMs, standing, text } from "./shapes.ts";

const body = { amount: { unit: "iso4217/USD", value: "1000" }, referenceId: "order 1" };
const accepts = (change: object) =>
  createMerchantPayment.body.safeParse({ ...body, ...change }).success;

// Guarantee: an amount is digits and nothing that a number parser would also take.
test.for([
  "",
  "0",
  "-1",
  "+5",
  "1.5",
  "1e3",
  "0x10",
  "0b11",
  " 5 ",
  "00012",
  "１２",
  "9".repeat(19),
  "1".repeat(5000),
  5,
  null,
])("amount %j is refused", (value) => {
  expect(accepts({ amount: { unit: "iso4217/USD", value } })).toBe(false);
});

// Guarantee: text that PostgreSQL cannot store, or that is no text, never reaches it.
test.for(["", "a\u0000b", "a\nb", "a\u0085b", "\ud800", "x".repeat(256)])(
  "reference %j is refused",
  (referenceId) => {
    expect(accepts({ referenceId })).toBe(false);
  },
);

// Guarantee: lengths count characters as people do, not halves of them.
test("255 characters outside the basic plane are 255 characters", () => {
  expect(text(1, 255).safeParse("😀".repeat(255)).success).toBe(true);
  expect(text(1, 255).safeParse("😀".repeat(256)).success).toBe(false);
});

// Guarantee: a wrong redirect address never costs a merchant the payment.
test.for([undefined, null, {}, { successUrl: 5 }, { successUrl: "javascript:alert(1)" }])(
  "checkout %j is accepted",
  (checkout) => {
    expect(accepts({ checkout })).toBe(true);
  },
);

// Guarantee: members nobody asked for do nothing, so that a body cannot set what is ours.
test("unknown members are dropped", () => {
  const read = createMerchantPayment.body.parse({
    ...body,
    status: "succeeded",
    merchantId: "mer_2",
  });
  expect(read).not.toHaveProperty("status");
  expect(read).not.toHaveProperty("merchantId");
});

// Guarantee: nothing leaves that the contract does not name.
test("an answer keeps exactly the contract's members", () => {
  const sent = standing.parse({
    status: "processing",
    isFinal: false,
    pollInMs: 1000,
    info: null,
    referenceId: "order 1",
    payment: { feeBps: 40 },
  });
  expect(Object.keys(sent).toSorted()).toEqual(["info", "isFinal", "pollInMs", "status"]);
});

// Guarantee: buyers see the digits a currency and a token really have.
test("amounts carry their display", () => {
  expect(amount.parse(fiatAmount("iso4217/JPY", 500n))).toEqual({
    unit: "iso4217/JPY",
    value: "500",
    display: { assetName: "Yen", assetSymbol: "JPY", decimals: 0 },
  });
  expect(fiatAmount("iso4217/KWD", 1n).display.decimals).toBe(3);
  const asset = `eip155:1/erc20:0x${"ab".repeat(20)}`;
  expect(amount.parse(tokenAmount(asset, 10n ** 30n, null))).toMatchObject({
    unit: `caip19/${asset}`,
    value: `1${"0".repeat(30)}`,
    display: { assetSymbol: `0x${"ab".repeat(20)}`, decimals: 0 },
  });
});

// Guarantee: a poll may be asked to wait for any whole number of milliseconds, and waits for the cap at most.
test.for([
  ["0", 0],
  ["1500", 1500],
  ["25001", 25_000],
  ["9223372036854775807", 25_000],
  ["9".repeat(100), 25_000],
  ["-1", null],
  ["1.5", null],
  ["1e3", null],
  ["", null],
] as const)("a poll of %s ms", ([asked, waits]) => {
  const read = maxPollMs(25_000).safeParse(asked);
  expect(read.success ? read.data : null).toBe(waits);
});
