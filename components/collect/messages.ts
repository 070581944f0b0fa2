import ar from "#components/messages/collect.ar.json" with { type: "json" };
import de from "#components/messages/collect.de.json" with { type: "json" };
import en from "#components/messages/collect.en.json" with { type: "json" };
import es from "#components/messages/collect.es.json" with { type: "json" };
import fr from "#components/messages/collect.fr.json" with { type: "json" };
import type { Language } from "#components/messages/languages.ts";

/** The words of the form in each language, as the group `collect` of all messages. */
export const COLLECT_MESSAGES: Readonly<Record<Language, { collect: typeof en }>> = {
  en: { collect: en },
  de: { collect: de },
  es: { collect: es },
  fr: { collect: fr },
  ar: { collect: ar },
};
