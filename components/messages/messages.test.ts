import compile from "icu-minify/compile";
import { expect, test } from "vitest";
import { CHECKOUT_MESSAGES } from "./checkout.ts";
import type { Messages } from "./compile.ts";
import { chooseLanguage, LANGUAGES, languageLinks } from "./languages.ts";

/** Texts by their whole key. */
function flat(messages: Messages, prefix = ""): Map<string, string> {
  const found = new Map<string, string>();
  for (const [key, value] of Object.entries(messages))
    if (typeof value === "string") found.set(`${prefix}${key}`, value);
    else for (const [inner, text] of flat(value, `${prefix}${key}.`)) found.set(inner, text);
  return found;
}

/** Names of the values a text needs, with the cases of a `select`. */
function placeholders(text: string): string[] {
  const found = new Set<string>();
  const walk = (node: unknown): void => {
    if (!Array.isArray(node)) return;
    const [name, kind, options] = node;
    if (typeof name === "string" && (node.length === 1 || typeof kind === "number")) {
      found.add(name);
      if (typeof options !== "object" || options === null) return;
      // 1 is a select: its cases are the program's own words, while those of a plural are the language's.
      if (kind === 1) found.add(`${name}: ${Object.keys(options).toSorted().join(" ")}`);
      for (const option of Object.values(options)) walk(option);
    } else for (const one of node) walk(one);
  };
  const compiled = compile(text);
  walk(Array.isArray(compiled) ? compiled : []);
  return [...found].toSorted();
}

const english = flat(CHECKOUT_MESSAGES.en);

// Guarantee: no language lacks a text or has one that nobody shows.
test.each(LANGUAGES)("$name has every text", ({ code }) => {
  expect([...flat(CHECKOUT_MESSAGES[code]).keys()]).toEqual([...english.keys()]);
  for (const text of flat(CHECKOUT_MESSAGES[code]).values()) expect(text.trim()).not.toBe("");
});

// Guarantee: no translation drops an amount, a name or a time, or asks for one that is not given.
test.each(LANGUAGES)("$name uses the same values", ({ code }) => {
  expect(placeholders("{a, select, x {{b}} other {c}}")).toEqual(["a", "a: other x", "b"]);
  for (const [key, text] of flat(CHECKOUT_MESSAGES[code]))
    expect([key, placeholders(text)]).toEqual([key, placeholders(english.get(key) ?? "")]);
});

// Guarantee: each language has a word for every count its grammar tells apart.
test.each(LANGUAGES)("$name counts", ({ code }) => {
  const cases = new Intl.PluralRules(code).resolvedOptions().pluralCategories;
  for (const text of flat(CHECKOUT_MESSAGES[code]).values())
    if (text.includes(", plural,"))
      for (const one of cases) expect(text).toMatch(new RegExp(`[ }]${one} \\{`));
});

// Guarantee: nobody is shown a bare translation of English: a forgotten copy is noticed.
test.each(LANGUAGES.slice(1))("$name is translated", ({ code }) => {
  const same = [...flat(CHECKOUT_MESSAGES[code])].filter(
    ([key, text]) => key.startsWith("state.") && english.get(key) === text,
  );
  expect(same).toEqual([]);
});

// Guarantee: the address decides the language, then the browser, then English.
test("the language is chosen", () => {
  expect(chooseLanguage("de", "fr")).toBe("de");
  expect(chooseLanguage(["ar", "de"], "fr")).toBe("ar");
  expect(chooseLanguage("xx", "it, fr-CA;q=0.8, de;q=0.9")).toBe("de");
  expect(chooseLanguage(undefined, "de;q=0, es-MX")).toBe("es");
  expect(chooseLanguage(undefined, null)).toBe("en");
  expect(chooseLanguage(undefined, ";;;q=abc,,*")).toBe("en");
});

// Guarantee: choosing another language keeps everything else the address says.
test("links keep the rest of the address", () => {
  const [, german] = languageLinks("/pay_1", { lang: "en", a: ["1", "2"], b: undefined });
  expect(german?.href).toBe("/pay_1?a=1&a=2&lang=de");
});
