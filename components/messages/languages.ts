/** The languages the pages of a buyer speak; the first is what a reader of none of them gets. */
export const LANGUAGES = [
  { code: "en", name: "English", dir: "ltr" },
  { code: "de", name: "Deutsch", dir: "ltr" },
  { code: "es", name: "Español", dir: "ltr" },
  { code: "fr", name: "Français", dir: "ltr" },
  { code: "ar", name: "العربية", dir: "rtl" },
] as const;

export type Language = (typeof LANGUAGES)[number]["code"];

const known = (tag: string): Language | null =>
  LANGUAGES.find(({ code }) => code === tag.toLowerCase().split("-")[0])?.code ?? null;

/** Tags of an Accept-Language header, the most wanted first; those with weight 0 are left out. */
function wanted(header: string): string[] {
  const weighed = header.split(",").map((part) => {
    const [tag = "", ...parameters] = part.trim().split(";");
    const q = parameters.map((one) => one.trim()).find((one) => one.startsWith("q="));
    const weight = q === undefined ? 1 : Number(q.slice(2));
    return { tag: tag.trim(), weight: Number.isNaN(weight) ? 0 : weight };
  });
  return weighed
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag);
}

/** What `?lang=` asks for, else what the browser does, else English. */
export function chooseLanguage(
  asked: string | string[] | undefined,
  acceptLanguage: string | null,
): Language {
  const first = Array.isArray(asked) ? asked[0] : asked;
  const tags = [...(first === undefined ? [] : [first]), ...wanted(acceptLanguage ?? "")];
  for (const tag of tags) {
    const language = known(tag);
    if (language !== null) return language;
  }
  return LANGUAGES[0].code;
}

/** Which way the language is written. */
export const directionOf = (language: Language): "ltr" | "rtl" =>
  LANGUAGES.find(({ code }) => code === language)?.dir ?? "ltr";

/** The language with the digits of receipts and wallets, which are Latin in all of ours. */
export const localeOf = (language: string): string => `${language}-u-nu-latn`;

/** The same page in each language; what else the address says is kept. */
export function languageLinks(
  path: string,
  search: Readonly<Record<string, string | string[] | undefined>>,
): { code: Language; name: string; href: string }[] {
  return LANGUAGES.map(({ code, name }) => {
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(search))
      if (key !== "lang") for (const one of [value].flat()) if (one) query.append(key, one);
    query.set("lang", code);
    return { code, name, href: `${path}?${query}` };
  });
}
