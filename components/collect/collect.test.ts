import { readFileSync } from "node:fs";
import { TRPCClientError } from "@trpc/client";
import { createTranslator } from "use-intl/core";
import { describe, expect, test } from "vitest";
import { LANGUAGES } from "#components/messages/languages.ts";
import type { CollectField } from "#server/contract/collect.ts";
import { COUNTRIES } from "#server/domain/collect/countries.ts";
import { validateCollected } from "#server/domain/collect/validate.ts";
import { ERROR_CODES } from "#server/domain/error-code.ts";
import { answersFrom, checkAnswers, mapIssues, problemOf } from "./check.ts";
import { countryNames } from "./country-names.ts";
import { readAddress } from "./link.ts";
import { COLLECT_MESSAGES } from "./messages.ts";
import { birthBounds, groupKnownBest, shownFields } from "./model.ts";
import { readFailure } from "./submit.ts";

const TODAY = "2026-11-21";
const field = (name: string, kind: CollectField["kind"]): CollectField => ({
  name,
  kind,
  title: name,
  maxLength: 200,
});
const ASKED = {
  required: [field("fullName", "text"), field("dob", "date"), field("tosConfirmed", "consent")],
  oneOf: [
    [field("pobCountry", "country"), field("pobAddress", "text")],
    [field("porCountry", "country"), field("porAddress", "text")],
  ],
};
const SHOWN = shownFields(ASKED, 0);
const GOOD: Record<string, string> = {
  fullName: " Åse ",
  dob: "1984-02-29",
  pobCountry: "NO",
  pobAddress: "Tromsø",
  tosConfirmed: "true",
};
const written = (changes: Record<string, string> = {}) =>
  answersFrom(SHOWN, (name) => ({ ...GOOD, ...changes })[name] ?? "");
const found = (changes: Record<string, string>) => checkAnswers(SHOWN, written(changes), TODAY);

describe("what is filled in", () => {
  // Guarantee: what this page lets through is what the server takes.
  test("a good form", () => {
    const answers = written();
    expect(answers).toEqual({ ...GOOD, fullName: "Åse", tosConfirmed: true });
    expect(checkAnswers(SHOWN, answers, TODAY)).toEqual({});
    expect(validateCollected(answers, TODAY).kind).toBe("valid");
  });

  // Guarantee: each mistake is found before sending, at its own field.
  test.for([
    [{ fullName: "" }, { fullName: "required" }],
    [{ fullName: " \u00a0" }, { fullName: "required" }],
    [{ fullName: "A\u0000B" }, { fullName: "characters" }],
    [{ fullName: "A\ud800" }, { fullName: "characters" }],
    [{ pobAddress: "x".repeat(201) }, { pobAddress: "tooLong" }],
    [{ dob: "" }, { dob: "required" }],
    [{ dob: "2025-02-29" }, { dob: "date" }],
    [{ dob: TODAY }, { dob: "future" }],
    [{ dob: "1905-12-31" }, { dob: "tooOld" }],
    [{ pobCountry: "ZZ" }, { pobCountry: "country" }],
    [
      { pobCountry: "", pobAddress: "" },
      { pobCountry: "required", pobAddress: "required" },
    ],
    [{ tosConfirmed: "" }, { tosConfirmed: "agree" }],
  ] as const)("%j", ([changes, problems]) => {
    expect(found(changes)).toEqual(problems);
  });

  // Guarantee: every sentence of the rules has one of this page; a sentence nobody knows is still shown at its field.
  test("the server's findings", () => {
    const wrong = [
      {},
      { fullName: 1, dob: 1, pobCountry: 1, pobAddress: "\n", tosConfirmed: false },
      { fullName: "\ud800", dob: "2030-01-01", pobAddress: "x".repeat(300) },
      { dob: "1850-01-01" },
    ];
    const issues = wrong.flatMap((data) => {
      const read = validateCollected(data, TODAY);
      return read.kind === "invalid" ? read.issues : [];
    });
    expect(issues.length).toBeGreaterThan(10);
    for (const { message } of issues) expect(problemOf(message), message).not.toBe("refused");
    expect(mapIssues(SHOWN, [{ field: "data.dob", message: "is odd" }])).toEqual({
      dob: "refused",
    });
    expect(mapIssues(SHOWN, [{ field: "data", message: "has members" }])).toEqual({});
  });

  // Guarantee: a place the wallet knows is the one that is asked.
  test("the place that is known", () => {
    expect(groupKnownBest(ASKED, {})).toBe(0);
    expect(groupKnownBest(ASKED, { porCountry: "CH" })).toBe(1);
    expect(groupKnownBest(ASKED, { pobCountry: "NO", porCountry: "CH", porAddress: "Zug" })).toBe(
      1,
    );
    expect(groupKnownBest({ ...ASKED, oneOf: [] }, {})).toBe(0);
  });

  // Guarantee: the calendar offers exactly the days the rules take.
  test("days of birth", () => {
    const { min, max } = birthBounds(TODAY);
    expect([found({ dob: min }), found({ dob: max })]).toEqual([{}, {}]);
    expect([min, max]).toEqual(["1906-01-01", "2026-11-20"]);
    expect(birthBounds("2026-01-01").max).toBe("2025-12-31");
  });
});

/** A refusal as the client of the procedures throws it. */
const refused = (code: string, retryable = false) => {
  const error = new TRPCClientError("refused");
  Object.assign(error, {
    data: { code, retryable, issues: [{ field: "data.dob", message: "x" }] },
  });
  return readFailure(error);
};

// Guarantee: only what neither a correction nor another try can mend ends the form.
test("failures", () => {
  expect(readFailure(new TypeError("fetch failed"))).toEqual({ kind: "unreachable" });
  expect(readFailure(new TRPCClientError("not JSON"))).toEqual({ kind: "unreachable" });
  expect(refused("internal_error", true)).toEqual({ kind: "unreachable" });
  expect(refused("rate_limited", true)).toEqual({ kind: "busy" });
  expect(refused("params_validation").kind).toBe("rejected");
  expect(refused("forbidden")).toEqual({ kind: "refused", refusal: "link" });
  expect(refused("payment_expired")).toEqual({ kind: "refused", refusal: "expired" });
  expect(refused("invalid_state")).toEqual({ kind: "refused", refusal: "state" });
  for (const code of ERROR_CODES) expect(refused(code).kind).toMatch(/rejected|busy|refused/);
});

describe("the address", () => {
  // Guarantee: a link is read however a wallet appended to it.
  test.for([
    "pid=pay_1&accounts=a,b&t=1.x&theme=dark&prefill=e30",
    "pid=pay_1&accounts=a,b&t=1.x?theme=dark&prefill=e30",
    "pid=pay_1&accounts=a,b&t=1.x?prefill=e30?theme=dark",
  ])("%s", (query) => {
    const search = Object.fromEntries(new URLSearchParams(query));
    const link = { pid: "pay_1", accounts: ["a", "b"], t: "1.x" };
    expect(readAddress(search)).toEqual({ link, theme: "dark", prefill: "e30" });
  });

  // Guarantee: what is missing or repeated is no link of ours and no error.
  test("odd ones", () => {
    const link = { pid: "", accounts: [], t: "" };
    expect(readAddress({})).toEqual({ link, theme: null, prefill: undefined });
    expect(readAddress({ t: ["1.x", "2.y"], theme: "neon" })).toMatchObject({
      link: { t: "1.x" },
      theme: null,
    });
  });
});

describe("words", () => {
  const leaves = (tree: object, path = ""): [string, string][] =>
    Object.entries(tree).flatMap(([key, value]) =>
      typeof value === "string" ? [[`${path}${key}`, value]] : leaves(value, `${path}${key}.`),
    );
  const english = leaves(COLLECT_MESSAGES.en);
  const named = (text: string) =>
    [
      ...new Set([...text.matchAll(/\{([a-z]+)[,}]|<([a-z]+)>/gi)].map(([, a, b]) => a ?? b)),
    ].sort();

  // Guarantee: every language says everything, with the same numbers and links in it.
  test.for(LANGUAGES.map(({ code }) => code))("%s", (language) => {
    const texts = leaves(COLLECT_MESSAGES[language]);
    expect(texts.map(([key]) => key)).toEqual(english.map(([key]) => key));
    expect(texts.map(([, text]) => named(text))).toEqual(english.map(([, text]) => named(text)));
    const words = createTranslator({
      locale: language,
      messages: COLLECT_MESSAGES[language],
      onError(error) {
        throw error;
      },
    });
    for (const days of [1, 2, 3, 11, 365]) expect(words("collect.why", { days })).toMatch(/\.$/);
    for (const [key, text] of texts) expect(text.trim(), key).not.toBe("");
  });

  // Guarantee: every country can be chosen by a name of its own.
  test.for(LANGUAGES.map(({ code }) => code))("countries: %s", (language) => {
    const names = countryNames(language);
    expect(names.map(({ code }) => code).sort()).toEqual([...COUNTRIES]);
    expect(new Set(names.map(({ name }) => name)).size).toBe(COUNTRIES.length);
    expect(names.filter(({ code, name }) => code === name)).toEqual([]);
  });
});

// Guarantee: a scheme the wallet names looks like the device's own.
test("the forced schemes have the values of the theme", () => {
  const own = readFileSync("components/collect/forced-theme.css", "utf8");
  const theme = readFileSync("components/ui/theme.css", "utf8");
  const block = (css: string, opening: string) => {
    const from = css.indexOf(opening);
    return css.slice(from, css.indexOf("}", from)).match(/--[a-z-]+: #[0-9a-f]+/g);
  };
  expect(block(own, '[data-theme="light"]')).not.toBeNull();
  expect(block(own, '[data-theme="light"]')).toEqual(block(theme, ":root {"));
  expect(block(own, '[data-theme="dark"]')).toEqual(block(theme, "prefers-color-scheme: dark"));
});
