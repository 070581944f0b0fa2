import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Call,
  changesNothing,
  DOORS,
  type Doors,
  expectCommonHeaders,
  expectRefusal,
  openDoors,
  type Refusal,
  send,
} from "./doors.ts";

const PATH = "/v1/merchant/payment";
const GOOD = { amount: { unit: "iso4217/USD", value: "1250" }, referenceId: "order-1" };
const INVALID = { status: 400, code: "invalid_params" };
const RULE = { status: 400, code: "params_validation" };
const TOO_LARGE = { status: 413, code: "invalid_params" };
const NOT_JSON = { status: 415, code: "invalid_params" };

let doors: Doors;
beforeAll(async () => {
  doors = await openDoors();
});
afterAll(() => doors?.stop());

const now = () => Math.floor(Date.now() / 1000);
const value = (amount: unknown) => ({ ...GOOD, amount: { unit: "iso4217/USD", value: amount } });
const unit = (name: unknown) => ({ ...GOOD, amount: { unit: name, value: "1250" } });
const money = (name: string, amount: string) => ({
  ...GOOD,
  amount: { unit: `iso4217/${name}`, value: amount },
});

/** JSON text in which the one placeholder is replaced as it stands: escapes that `JSON.stringify` would never write. */
const written = (body: unknown, placed: string) => JSON.stringify(body).replace("@", placed);
const NUL = "\\u0000";
const HALF = "\\ud83d";

const AMOUNTS: [string, unknown, Refusal][] = [
  ["an empty amount", value(""), RULE],
  ["an amount of 0", value("0"), RULE],
  ["a negative amount", value("-1"), RULE],
  ["a plus sign", value("+5"), RULE],
  ["a decimal point", value("1.5"), RULE],
  ["an exponent", value("1e3"), RULE],
  ["a hexadecimal amount", value("0x10"), RULE],
  ["a binary amount", value("0b11"), RULE],
  ["spaces around an amount", value(" 5 "), RULE],
  ["a line break after an amount", value("1250\n"), RULE],
  ["leading zeros", value("00012"), RULE],
  ["full-width digits", value("１２"), RULE],
  ["a thousands separator", value("1,250"), RULE],
  ["19 digits", value("1".repeat(19)), RULE],
  ["5,000 digits", value("9".repeat(5_000)), RULE],
  ["a number for an amount", value(1250), INVALID],
  ["a number too large to be exact", written(value("@"), "").replace('""', "1e400"), INVALID],
  ["null for an amount", value(null), INVALID],
  ["a list for an amount", value(["1250"]), INVALID],
  ["no amount value", { ...GOOD, amount: { unit: "iso4217/USD" } }, INVALID],
  ["no amount", { referenceId: "order-1" }, INVALID],
  ["text for the amount object", { ...GOOD, amount: "1250" }, INVALID],
  // 0.10 USD is the least: at 0.00665 USD a yen and 3.25 USD a dinar of 1,000 fils.
  [
    "too small in dollars",
    money("USD", "9"),
    { ...RULE, message: /^Validation error: Amount must be at least 10 to cover fees$/ },
  ],
  [
    "too small in yen",
    money("JPY", "15"),
    { ...RULE, message: /^Validation error: Amount must be at least 16 to cover fees$/ },
  ],
  [
    "too small in dinars",
    money("KWD", "30"),
    { ...RULE, message: /^Validation error: Amount must be at least 31 to cover fees$/ },
  ],
  // 100,000 USD is the most.
  ["too large in dollars", money("USD", "10000001"), { ...RULE, message: /at most 10000000\b/ }],
  ["too large in yen", money("JPY", "15037595"), RULE],
  ["the largest writable amount", value("9".repeat(18)), RULE],
];

const CURRENCIES: [string, unknown, Refusal][] = [
  ["the test currency", unit("iso4217/XTS"), RULE],
  ["no currency", unit("iso4217/XXX"), RULE],
  ["gold", unit("iso4217/XAU"), RULE],
  ["a currency without a price source", unit("iso4217/CHF"), RULE],
  ["a code in lower case", unit("iso4217/usd"), RULE],
  ["a prefix in capitals", unit("ISO4217/USD"), RULE],
  ["no prefix", unit("USD"), RULE],
  ["a crypto unit", unit("caip19/eip155:1/slip44:60"), RULE],
  ["an unknown code of three letters", unit("iso4217/ZZZ"), RULE],
  ["a code and a line break", unit("iso4217/USD\n"), RULE],
  ["an empty unit", unit(""), RULE],
  ["__proto__", unit("iso4217/__proto__"), RULE],
  ["constructor", unit("iso4217/constructor"), RULE],
  ["toString", unit("iso4217/toString"), RULE],
  ["hasOwnProperty", unit("hasOwnProperty"), RULE],
  ["a number for a unit", unit(840), INVALID],
  ["no unit", { ...GOOD, amount: { value: "1250" } }, INVALID],
];

const TEXTS: [string, unknown, Refusal][] = [
  ["no reference", { amount: GOOD.amount }, INVALID],
  ["a number for a reference", { ...GOOD, referenceId: 7 }, INVALID],
  ["an empty reference", { ...GOOD, referenceId: "" }, RULE],
  ["a reference of 256 characters", { ...GOOD, referenceId: "x".repeat(256) }, RULE],
  [
    "a reference of 256 characters outside the basic plane",
    { ...GOOD, referenceId: "🧾".repeat(256) },
    RULE,
  ],
  ["NUL in a reference", written({ ...GOOD, referenceId: "a@" }, NUL), RULE],
  ["a line break in a reference", { ...GOOD, referenceId: "a\nb" }, RULE],
  ["a C1 control in a reference", { ...GOOD, referenceId: "a\u0085b" }, RULE],
  ["half a surrogate pair in a reference", written({ ...GOOD, referenceId: "a@" }, HALF), RULE],
  ["NUL in a description", written({ ...GOOD, description: "@" }, NUL), RULE],
  ["half a surrogate pair in a description", written({ ...GOOD, description: "@" }, HALF), RULE],
  ["a description of 501 characters", { ...GOOD, description: "x".repeat(501) }, RULE],
  ["a list for a description", { ...GOOD, description: ["x"] }, INVALID],
  ["NUL in a metadata value", written({ ...GOOD, metadata: { a: "@" } }, NUL), RULE],
  [
    "half a surrogate pair in a metadata value",
    written({ ...GOOD, metadata: { a: "@" } }, HALF),
    RULE,
  ],
  ["NUL in a metadata name", written({ ...GOOD, metadata: { "@": "a" } }, NUL), RULE],
  [
    "half a surrogate pair in a metadata name",
    written({ ...GOOD, metadata: { "@": "a" } }, HALF),
    RULE,
  ],
  ["a metadata value of 501 characters", { ...GOOD, metadata: { a: "x".repeat(501) } }, RULE],
  [
    "51 metadata pairs",
    {
      ...GOOD,
      metadata: Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`k${at}`, "v"])),
    },
    RULE,
  ],
  ["a number in metadata", { ...GOOD, metadata: { a: 1 } }, INVALID],
  ["a list for metadata", { ...GOOD, metadata: ["a"] }, INVALID],
  ["text for checkout", { ...GOOD, checkout: "https://shop.test" }, INVALID],
];

const EXPIRIES: [string, () => unknown, Refusal][] = [
  ["an expiry in the past", () => now() - 60, RULE],
  ["an expiry of 0", () => 0, RULE],
  ["a negative expiry", () => -1, RULE],
  ["an expiry 2 seconds ahead", () => now() + 2, RULE],
  ["an expiry in milliseconds", () => (now() + 600) * 1000, { ...RULE, message: /milliseconds/ }],
  [
    "an expiry more than 7 days ahead",
    () => now() + 7 * 24 * 3600 + 60,
    { ...RULE, message: /7 days/ },
  ],
  ["an expiry of half a second", () => now() + 600.5, INVALID],
  ["an expiry as text", () => String(now() + 600), INVALID],
  ["an expiry as a date", () => "2030-01-01T00:00:00Z", INVALID],
];

const gzip = gzipSync(JSON.stringify(GOOD));
const deep = (depth: number) => `{"amount":${"[".repeat(depth)}${"]".repeat(depth)}}`;
const BODIES: [string, Omit<Call, "path">, Refusal][] = [
  ["a body that is not JSON", { body: "amount=1250" }, INVALID],
  ["half a JSON body", { body: '{"amount":' }, INVALID],
  ["two JSON values", { body: `${JSON.stringify(GOOD)}{}` }, INVALID],
  ["JSON with a comment", { body: `${JSON.stringify(GOOD)}//` }, INVALID],
  ["an empty body", { body: "" }, INVALID],
  ["blanks for a body", { body: "  \n" }, INVALID],
  ["a list for a body", { body: [GOOD] }, INVALID],
  ["null for a body", { body: "null" }, INVALID],
  ["text for a body", { body: '"pay"' }, INVALID],
  ["a number for a body", { body: "42" }, INVALID],
  ["bytes that are not UTF-8", { body: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]) }, INVALID],
  ["a body of 1 MB", { body: { ...GOOD, description: "x".repeat(1_000_000) } }, TOO_LARGE],
  ["a body of 64 kB and one byte", { body: JSON.stringify(GOOD).padEnd(64 * 1024 + 1) }, TOO_LARGE],
  [
    "a body of 1 MB that names no length",
    { headers: { "Transfer-Encoding": "chunked" }, body: "x".repeat(1_000_000) },
    TOO_LARGE,
  ],
  ["a body nested 10,000 deep", { body: deep(10_000) }, INVALID],
  ["a body nested 25 deep", { body: deep(25) }, INVALID],
  [
    "a __proto__ member",
    { body: '{"__proto__":{"amount":{"unit":"iso4217/USD","value":"1"}},"referenceId":"a"}' },
    INVALID,
  ],
  [
    "a nested __proto__ member",
    { body: '{"amount":{"unit":"iso4217/USD","value":"1250","__proto__":{}},"referenceId":"a"}' },
    INVALID,
  ],
  [
    "a constructor with a prototype",
    { body: '{"constructor":{"prototype":{}},"amount":{},"referenceId":"a"}' },
    INVALID,
  ],
  [
    "an escaped __proto__ member",
    { body: '{"__\\u0070roto__":{},"amount":{},"referenceId":"a"}' },
    INVALID,
  ],
  ["a compressed body", { headers: { "Content-Encoding": "gzip" }, body: gzip }, NOT_JSON],
  ["a compressed body that does not say so", { body: gzip }, INVALID],
  [
    "a form",
    { headers: { "Content-Type": "application/x-www-form-urlencoded" }, body: "a=b" },
    NOT_JSON,
  ],
  [
    "JSON sent as text",
    { headers: { "Content-Type": "text/plain" }, body: JSON.stringify(GOOD) },
    NOT_JSON,
  ],
  [
    "JSON in another charset",
    { headers: { "Content-Type": "application/json; charset=utf-7" }, body: JSON.stringify(GOOD) },
    NOT_JSON,
  ],
  [
    "JSON with a suffix",
    { headers: { "Content-Type": "application/jsonp" }, body: JSON.stringify(GOOD) },
    NOT_JSON,
  ],
  [
    "an empty content type",
    { headers: { "Content-Type": "" }, body: JSON.stringify(GOOD) },
    NOT_JSON,
  ],
];

describe.for(DOORS)("through the %s", (door) => {
  const create = (call: Omit<Call, "path">) =>
    send(doors.baseUrl(door), {
      method: "POST",
      path: PATH,
      ...call,
      headers: {
        ...doors.at(door).merchantHeaders("intermediary"),
        ...(call.headers as Record<string, string>),
      },
    });
  const refuses = async (call: Omit<Call, "path">, refusal: Refusal) => {
    const answer = await changesNothing(doors.world.db, () => create(call));
    expectRefusal(answer, PATH, refusal);
  };

  // Guarantee: an amount is taken only as plain digits of a known currency, within what fees and the operator allow.
  test.for(AMOUNTS)("amount: %s", ([, body, refusal]) => refuses({ body }, refusal));
  test.for(CURRENCIES)("currency: %s", ([, body, refusal]) => refuses({ body }, refusal));

  // Guarantee: nothing the database cannot store, and no wrong type, gets past the edge.
  test.for(TEXTS)("text: %s", ([, body, refusal]) => refuses({ body }, refusal));

  // Guarantee: a payment's window is in the future and at most a week long.
  test.for(EXPIRIES)("expiry: %s", ([, expiresAt, refusal]) =>
    refuses({ body: { ...GOOD, expiresAt: expiresAt() } }, refusal),
  );

  // Guarantee: a body that is not one JSON object of reasonable size is refused as such, never as a crash.
  test.for(BODIES)("body: %s", ([, call, refusal]) => refuses(call, refusal));

  // Guarantee: a refusal names each wrong member, and how.
  test("issues name the members", async () => {
    const { body } = await create({
      body: {
        amount: { unit: "usd", value: "-1" },
        referenceId: "",
        metadata: { a: "x".repeat(501) },
      },
    });
    expect(body.issues.map(({ path }: { path: string }) => path).toSorted()).toEqual([
      "amount.unit",
      "amount.value",
      "metadata.a",
      "referenceId",
    ]);
  });

  // Guarantee: the strictness above refuses nothing that the specification allows.
  test.for([
    ["the smallest amount", money("USD", "10")],
    ["the largest amount", money("USD", "10000000")],
    ["a currency without minor units", money("JPY", "16")],
    ["a currency with three digits", money("KWD", "31")],
    [
      "a reference of 255 characters outside the basic plane",
      { ...GOOD, referenceId: "🧾".repeat(255) },
    ],
    [
      "unknown members",
      {
        ...GOOD,
        status: "succeeded",
        merchantId: "mer_x",
        isFinal: true,
        amount: { ...GOOD.amount, display: {} },
      },
    ],
    [
      "null for optional members",
      { ...GOOD, checkout: null, expiresAt: null, metadata: null, description: null },
    ],
    [
      "redirects that are not https",
      { ...GOOD, checkout: { successUrl: "javascript:alert(1)", errorUrl: 7 } },
    ],
    [
      "half a surrogate pair in a redirect",
      written({ ...GOOD, checkout: { successUrl: "https://a/@" } }, HALF),
    ],
    [
      "metadata of 50 pairs",
      {
        ...GOOD,
        metadata: Object.fromEntries(
          Array.from({ length: 50 }, (_, at) => [`k${at}`, "v".repeat(500)]),
        ),
      },
    ],
    ["a body of 64 kB", JSON.stringify(GOOD).padEnd(64 * 1024)],
  ] as [string, unknown][])("accepted: %s", async ([, body]) => {
    const before = now();
    const answer = await create({ body });
    const after = now();
    expect([answer.status, answer.text]).toEqual([201, answer.text]);
    expectCommonHeaders(answer, false);
    expect(answer.body).toEqual({
      paymentId: expect.stringMatching(/^pay_[0-9A-HJKMNP-TV-Z]{26}$/),
      gatewayUrl: `https://checkout.florin.test/${answer.body.paymentId}`,
      status: "pending",
      expiresAt: expect.any(Number),
      isFinal: false,
      pollInMs: 1000,
    });
    expect(answer.body.expiresAt).toBeGreaterThanOrEqual(before + 900);
    expect(answer.body.expiresAt).toBeLessThanOrEqual(after + 900);
    const [row] = await doors.world.db.query<Record<string, unknown>>(
      `select status, success_url, error_url from payment where id = $1`,
      [answer.body.paymentId],
    );
    expect(row).toEqual({ status: "requires_action", success_url: null, error_url: null });
  });

  test("accepted: a charset of utf-8, and JSON's own blanks", async () => {
    const answer = await create({
      headers: { "Content-Type": 'application/json ; charset="UTF-8"' },
      body: `\n\t ${JSON.stringify(GOOD)}\r\n`,
    });
    expect(answer.status).toBe(201);
  });
});
