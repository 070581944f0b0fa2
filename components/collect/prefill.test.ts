import { describe, expect, test } from "vitest";
import { readPrefill } from "./prefill.ts";

const TODAY = "2026-11-21";
/** Chosen so that its base64 has `+`, `/` and padding. */
const PERSON = {
  fullName: "Åse Ÿ>?ÿ Østergård",
  dob: "1984-02-29",
  pobCountry: "NO",
  pobAddress: "Tromsø ~~~>>>??",
};
const bytes = Buffer.from(JSON.stringify(PERSON), "utf8");
const standard = bytes.toString("base64");
const urlSafe = bytes.toString("base64url");
const of = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");

/** What the page is given of an address with this parameter, as written by a wallet. */
const arrives = (written: string) =>
  new URL(`https://pay.example.com/collect?t=1&prefill=${written}`).searchParams.get("prefill") ??
  undefined;

// Guarantee: what a wallet knows of the buyer is read, however its base64 is written and escaped.
describe("the same person", () => {
  test("the example has every odd character", () => {
    expect(standard).toMatch(/\+/);
    expect(standard).toMatch(/\//);
    expect(standard).toMatch(/=$/);
  });
  test.for([
    ["standard, escaped", encodeURIComponent(standard)],
    ["standard, not escaped: + arrives as a space", standard],
    ["standard, escaped twice", encodeURIComponent(encodeURIComponent(standard))],
    ["standard without padding", encodeURIComponent(standard.replace(/=+$/, ""))],
    ["URL-safe", urlSafe],
    ["URL-safe with padding", `${urlSafe}${"=".repeat((4 - (urlSafe.length % 4)) % 4)}`],
    ["in lines of 76", encodeURIComponent(standard.replace(/.{76}/g, "$&\n"))],
    ["in lines of 76 with CR", encodeURIComponent(standard.replace(/.{76}/g, "$&\r\n"))],
  ] as const)("%s", ([, written]) => {
    expect(readPrefill(arrives(written), TODAY)).toEqual(PERSON);
  });
  test("in Latin-1, as `btoa` gives it", () => {
    const person = { fullName: "José Müller" };
    expect(readPrefill(btoa(JSON.stringify(person)), TODAY)).toEqual(person);
  });
});

// Guarantee: a prefill that cannot be read is as if there were none.
test.for([
  undefined,
  "",
  "%",
  "%E0%A4%A",
  "!!!!",
  "A",
  "null",
  of(null),
  of("text"),
  of(["NO"]),
  of(5),
  of({}),
  Buffer.from("{broken").toString("base64"),
  "A".repeat(100_000),
])("unreadable %#", (written) => {
  expect(readPrefill(written, TODAY)).toEqual({});
});

// Guarantee: a value the form would refuse is left out and the others stay; nobody is made to agree.
test("bad values", () => {
  const given = {
    fullName: "A\u0000B",
    dob: "2030-01-01",
    pobCountry: "no",
    pobAddress: "x".repeat(201),
    porCountry: "ZZ",
    porAddress: " Zürich ",
    tosConfirmed: true,
    passport: "1",
    __proto__: { dob: "1990-01-01" },
  };
  expect(readPrefill(of(given), TODAY)).toEqual({ pobCountry: "NO", porAddress: "Zürich" });
  expect(readPrefill(of({ fullName: 5, dob: null, porAddress: "" }), TODAY)).toEqual({});
});
