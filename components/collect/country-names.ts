import { COUNTRIES } from "#server/domain/collect/countries.ts";

/** One country a buyer can choose. */
export type Country = { code: string; name: string };

/** All countries by their names in a language (BCP 47), in that language's order. Browsers and servers may know different names. */
export function countryNames(locale: string): Country[] {
  const names = new Intl.DisplayNames([locale, "en"], { type: "region" });
  const { compare } = new Intl.Collator(locale);
  return COUNTRIES.map((code) => ({ code, name: names.of(code) ?? code })).sort((a, b) =>
    compare(a.name, b.name),
  );
}
