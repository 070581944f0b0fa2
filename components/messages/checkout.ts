import { COLLECT_MESSAGES } from "#components/collect/messages.ts";
import ar from "./ar.json" with { type: "json" };
import { type Compiled, compileMessages } from "./compile.ts";
import de from "./de.json" with { type: "json" };
import en from "./en.json" with { type: "json" };
import es from "./es.json" with { type: "json" };
import fr from "./fr.json" with { type: "json" };
import type { Language } from "./languages.ts";

/** What the checkout says in each language, without the form. */
export const CHECKOUT_MESSAGES: Readonly<Record<Language, typeof en>> = { en, de, es, fr, ar };

/** The checkout's words and those of the form it may show, ready for the browser. */
export const checkoutMessages = (language: Language): Compiled => ({
  ...compileMessages(CHECKOUT_MESSAGES[language]),
  ...compileMessages(COLLECT_MESSAGES[language]),
});
