import { createTranslator } from "use-intl/core";
import { checkoutMessages } from "#components/messages/checkout.ts";
import { type Language, localeOf } from "#components/messages/languages.ts";
import { type Words, wordsOf } from "./words.ts";

const made = new Map<Language, Words>();

/** The words of a language for what is drawn on the server only. */
export function serverWords(language: Language): Words {
  const known = made.get(language);
  if (known !== undefined) return known;
  const t = createTranslator({
    locale: localeOf(language),
    messages: checkoutMessages(language),
    timeZone: "UTC",
    onError: (error: Error) => {
      throw error;
    },
  });
  const words = wordsOf(localeOf(language), t as unknown as Words["t"]);
  made.set(language, words);
  return words;
}
