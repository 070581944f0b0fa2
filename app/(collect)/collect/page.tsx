import type { Metadata } from "next";
import { headers } from "next/headers";
import type { ReactNode } from "react";
import { CollectPage, type Opened } from "#components/collect/collect-page.tsx";
import { countryNames } from "#components/collect/country-names.ts";
import { readAddress, type Search, type Theme } from "#components/collect/link.ts";
import { COLLECT_MESSAGES } from "#components/collect/messages.ts";
import { utcDay } from "#components/collect/model.ts";
import { readPrefill } from "#components/collect/prefill.ts";
import { refusalFor } from "#components/collect/refusal.ts";
import { themeCss } from "#components/collect/theme-css.ts";
import { compileMessages } from "#components/messages/compile.ts";
import { chooseLanguage, type Language, languageLinks } from "#components/messages/languages.ts";
import { Messages } from "#components/messages/provider.tsx";
import { Document } from "#components/ui/document.tsx";
import { LanguagePicker } from "#components/ui/language-picker.tsx";
import { openForPage } from "#server/trpc/collect-page.ts";

export const dynamic = "force-dynamic";

type Props = { searchParams: Promise<Search> };

async function languageOf(search: Search): Promise<Language> {
  return chooseLanguage(search.lang, (await headers()).get("accept-language"));
}

export async function generateMetadata({ searchParams }: Props): Promise<Metadata> {
  const language = await languageOf(await searchParams);
  const { title } = COLLECT_MESSAGES[language].collect;
  return { title, referrer: "no-referrer", robots: { index: false, follow: false } };
}

/** What the page shows, read from its address. */
async function open(search: Search, language: Language): Promise<Opened> {
  const { link, prefill } = readAddress(search);
  const read = await openForPage(link);
  if (read.kind === "refused") return { kind: "refused", refusal: refusalFor(read.code) };
  if (read.kind === "unreachable") return { kind: "unreachable" };
  const { required, oneOf, keptDays, merchant, amount, given } = read.form;
  const today = utcDay(new Date(read.now));
  return {
    kind: "open",
    asked: { required, oneOf, keptDays, merchant, amount, given },
    link,
    known: readPrefill(prefill, today),
    today,
    countries: countryNames(language),
    termsUrl: read.termsUrl,
  };
}

function Frame({ theme, children }: { theme: Theme | null; children: ReactNode }) {
  return (
    <div
      data-theme={theme ?? undefined}
      className="mx-auto flex w-full max-w-lg flex-col gap-4 max-sm:min-h-dvh max-sm:bg-card sm:px-4 sm:py-10"
    >
      {children}
    </div>
  );
}

/** The form a wallet shows in a web view: /collect?pid=&accounts=&t=. */
export default async function Page({ searchParams }: Props) {
  const search = await searchParams;
  const [language, sent] = [await languageOf(search), await headers()];
  const messages = COLLECT_MESSAGES[language];
  const { theme } = readAddress(search);
  const opened = await open(search, language);
  const css = opened.kind === "open" ? themeCss(opened.asked.merchant.accent, theme) : null;
  const languages = (
    <LanguagePicker
      label={messages.collect.language}
      current={language}
      languages={languageLinks("/collect", search)}
    />
  );
  return (
    <Document language={language} nonce={sent.get("x-nonce") ?? undefined} css={css}>
      <Frame theme={theme}>
        <noscript>
          <p className="m-4 rounded-control bg-warn-soft px-4 py-3 text-sm text-warn sm:mx-0">
            {messages.collect.noScript}
          </p>
        </noscript>
        <Messages language={language} messages={compileMessages(messages)}>
          <CollectPage opened={opened} footer={languages} />
        </Messages>
      </Frame>
    </Document>
  );
}
