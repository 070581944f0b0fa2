import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { COUNTRIES, COUNTRY_PATTERN } from "./countries.ts";
import { COLLECT_FIELDS, COLLECT_SCHEMA, COLLECTED_NAMES, isWholeForm } from "./form.ts";
import { fromWallet, validateCollected } from "./validate.ts";

const TODAY = "2026-11-21";
const GOOD = {
  fullName: "Åse Østergård",
  dob: "1984-02-29",
  pobCountry: "NO",
  pobAddress: "Tromsø",
  tosConfirmed: true,
};
const { pobCountry: _, pobAddress: __, ...NOWHERE } = GOOD;
const RESIDENT = { ...NOWHERE, porCountry: "CH", porAddress: "Bahnhofstrasse 1, Zürich" };

const ajv = new Ajv2020({ allErrors: true });
formats.default(ajv);
const bySchema = ajv.compile(COLLECT_SCHEMA);

/** The fields that are complained about; empty: the form is good. */
function complaints(data: unknown): string[] {
  const read = validateCollected(data, TODAY);
  return read.kind === "valid" ? [] : read.issues.map(({ field }) => field);
}

// Guarantee: what a wallet's own form lets through by the schema, the server takes; what it refuses, the server refuses.
test.for([
  ["a place of birth", GOOD, []],
  ["a place of residence", RESIDENT, []],
  ["both places", { ...GOOD, ...RESIDENT }, []],
  ["one place and half of the other", { ...GOOD, porCountry: "CH" }, []],
  ["the longest name", { ...GOOD, fullName: "x".repeat(200) }, []],
  ["a name of 200 code points", { ...GOOD, fullName: "𝒳".repeat(200) }, []],
  ["no name", { ...GOOD, fullName: undefined }, ["fullName"]],
  ["an empty name", { ...GOOD, fullName: "" }, ["fullName"]],
  ["a blank name", { ...GOOD, fullName: " \u00a0 " }, ["fullName"]],
  ["a name that is too long", { ...GOOD, fullName: "x".repeat(201) }, ["fullName"]],
  ["a name that is a number", { ...GOOD, fullName: 5 }, ["fullName"]],
  ["NUL in the name", { ...GOOD, fullName: "A\u0000B" }, ["fullName"]],
  ["a line break in the name", { ...GOOD, fullName: "A\nB" }, ["fullName"]],
  ["a C1 control in the address", { ...GOOD, pobAddress: "A\u0085B" }, ["pobAddress"]],
  ["a day the calendar has not", { ...GOOD, dob: "1985-02-29" }, ["dob"]],
  ["a month the calendar has not", { ...GOOD, dob: "1985-13-01" }, ["dob"]],
  ["day zero", { ...GOOD, dob: "1985-01-00" }, ["dob"]],
  ["29 February 1900", { ...GOOD, dob: "1900-02-29" }, ["dob"]],
  ["a time with the date", { ...GOOD, dob: "1985-01-01T00:00:00Z" }, ["dob"]],
  ["another order", { ...GOOD, dob: "01.01.1985" }, ["dob"]],
  ["a country that does not exist", { ...GOOD, pobCountry: "ZZ" }, ["pobCountry"]],
  ["a country in small letters", { ...GOOD, pobCountry: "no" }, ["pobCountry"]],
  ["a country by its name", { ...GOOD, pobCountry: "Norway" }, ["pobCountry"]],
  ["a country without a place", { ...GOOD, pobAddress: undefined }, ["pobAddress"]],
  ["a place without a country", { ...GOOD, pobCountry: undefined }, ["pobCountry"]],
  ["halves of both places", { ...NOWHERE, pobCountry: "NO", porAddress: "Zug" }, ["pobAddress"]],
  ["no place", NOWHERE, ["pobCountry"]],
  ["terms that were not accepted", { ...GOOD, tosConfirmed: false }, ["tosConfirmed"]],
  ["terms accepted in words", { ...GOOD, tosConfirmed: "true" }, ["tosConfirmed"]],
  ["no terms", { ...GOOD, tosConfirmed: undefined }, ["tosConfirmed"]],
  ["a member nobody asked for", { ...GOOD, passport: "1" }, [""]],
  ["everything wrong", { fullName: 1, dob: 2, pobCountry: 3 }, "many"],
  ["an empty object", {}, ["fullName", "dob", "tosConfirmed", "pobCountry"]],
  ["a list", [GOOD], [""]],
  ["text", "fullName", [""]],
  ["null", null, [""]],
] as const)("%s", ([, written, fields]) => {
  const data: unknown = JSON.parse(JSON.stringify(written));
  expect(bySchema(data)).toBe(fields.length === 0);
  const found = complaints(data);
  if (fields === "many")
    expect(found).toEqual(["tosConfirmed", "pobAddress", "fullName", "dob", "pobCountry"]);
  else expect(found).toEqual(fields);
});

describe("beyond the schema", () => {
  // Guarantee: a birth that is still to come, or too long ago to be true, is refused.
  test.for([
    ["2026-11-20", true],
    ["2026-11-21", false],
    ["2027-01-01", false],
    ["9999-12-31", false],
    ["1906-01-01", true],
    ["1905-12-31", false],
    ["0001-01-01", false],
    ["2000-02-29", true],
  ] as const)("born on %s", ([dob, good]) => {
    expect(complaints({ ...GOOD, dob })).toEqual(good ? [] : ["dob"]);
  });

  // Guarantee: text that cannot be stored as it was given is refused.
  test("a lone surrogate", () => {
    expect(complaints({ ...GOOD, fullName: "A\ud800" })).toEqual(["fullName"]);
  });
});

// Guarantee: a refusal never repeats what was given.
test("messages say nothing of the values", () => {
  const secret = "S3CRET";
  const all = Object.fromEntries([...COLLECTED_NAMES, secret].map((name) => [name, `${secret}\n`]));
  const read = validateCollected(all, TODAY);
  expect(read.kind).toBe("invalid");
  expect(JSON.stringify(read)).not.toContain(secret);
});

// Guarantee: what is kept is what was given, as text and without white space around it.
test("fields of a good form", () => {
  expect(validateCollected({ ...GOOD, fullName: " Åse " }, TODAY)).toEqual({
    kind: "valid",
    fields: [
      { name: "fullName", value: "Åse" },
      { name: "dob", value: "1984-02-29" },
      { name: "pobCountry", value: "NO" },
      { name: "pobAddress", value: "Tromsø" },
      { name: "tosConfirmed", value: "true" },
    ],
  });
});

// Guarantee: the pattern in the schema and the table are the same list.
test("countries", () => {
  const pattern = new RegExp(COUNTRY_PATTERN, "u");
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  const all = letters.flatMap((first) => letters.map((second) => first + second));
  expect(all.filter((code) => pattern.test(code))).toEqual([...COUNTRIES]);
  expect(COUNTRIES).toHaveLength(250);
});

// Guarantee: the older description names only fields of the schema, and demands nothing the schema does not.
test("the list of fields", () => {
  for (const { id, required } of COLLECT_FIELDS) {
    expect(Object.keys(COLLECT_SCHEMA.properties)).toContain(id);
    expect(COLLECT_SCHEMA.required.some((name) => name === id)).toBe(required);
  }
});

// Guarantee: half a form never counts as given.
test("whole forms", () => {
  expect(isWholeForm(Object.keys(GOOD))).toBe(true);
  expect(isWholeForm(Object.keys(RESIDENT))).toBe(true);
  for (const name of Object.keys(GOOD))
    expect(isWholeForm(Object.keys(GOOD).filter((one) => one !== name))).toBe(false);
  expect(isWholeForm([...Object.keys(NOWHERE), "pobCountry", "porAddress"])).toBe(false);
});

describe("a wallet's collectedData", () => {
  const fields = (data: Record<string, unknown>) =>
    Object.entries(data).map(([id, value]) => ({ id, value: String(value) }));

  // Guarantee: the text a wallet sends becomes the form it stands for.
  test("is read", () => {
    expect(fromWallet({ fields: fields(GOOD) })).toEqual(GOOD);
    const empties = [
      { id: "porCountry", value: "" },
      { id: "porAddress", value: null },
    ];
    expect(fromWallet({ fields: [...fields(GOOD), ...empties] })).toEqual(GOOD);
    expect(fromWallet({ fields: [{ id: "tosConfirmed", value: "false" }] })).toEqual({
      tosConfirmed: "false",
    });
    const odd = fromWallet({ fields: [{ id: "__proto__", value: "x" }] });
    expect(Object.getPrototypeOf(odd)).toBe(Object.prototype);
    expect(Object.keys(odd ?? {})).toEqual(["__proto__"]);
  });

  // Guarantee: anything else is refused and never half read.
  test.for([
    undefined,
    null,
    "x",
    [],
    {},
    { fields: {} },
    { fields: ["fullName"] },
    { fields: [null] },
    { fields: [{ value: "x" }] },
    { fields: [{ id: 5, value: "x" }] },
    { fields: [...fields(GOOD), { id: "dob", value: "1990-01-01" }] },
    { fields: Array.from({ length: 15 }, (_, n) => ({ id: `f${n}`, value: "x" })) },
  ])("%j", (collectedData) => {
    expect(fromWallet(collectedData)).toBeNull();
  });
});
