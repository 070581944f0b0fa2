import { FlaskConical } from "lucide-react";
import type { ReactNode } from "react";
import { checkoutMessages } from "#components/messages/checkout.ts";
import { type Language, languageLinks } from "#components/messages/languages.ts";
import { Messages } from "#components/messages/provider.tsx";
import { Document } from "#components/ui/document.tsx";
import { LanguagePicker } from "#components/ui/language-picker.tsx";
import { serverWords } from "./server-words.ts";

/** What every page of the checkout is told of its request. */
export type PageRequest = {
  language: Language;
  nonce: string | undefined;
  /** The page's own address: its path, and what follows the question mark. */
  path: string;
  search: Readonly<Record<string, string | string[] | undefined>>;
};

/** The frame of the checkout's pages: what is true on all of them, and the words for what stands inside. */
export function Shell({
  request: { language, nonce, path, search },
  css = null,
  sandbox,
  children,
}: {
  request: PageRequest;
  css?: string | null;
  sandbox: boolean;
  children: ReactNode;
}) {
  const { t } = serverWords(language);
  return (
    <Document language={language} nonce={nonce} css={css}>
      <div className="flex min-h-dvh flex-col">
        {sandbox && (
          <header className="flex items-center justify-center gap-2 bg-warn-soft px-4 py-2 text-center text-sm text-warn print:hidden">
            <FlaskConical aria-hidden="true" className="size-4 shrink-0" />
            {t("page.sandbox")}
          </header>
        )}
        <Messages language={language} messages={checkoutMessages(language)}>
          {children}
        </Messages>
        <footer className="mx-auto mt-auto flex w-full max-w-5xl flex-wrap items-center justify-between gap-x-4 px-5 py-4 text-quiet text-sm sm:px-8">
          <span>{t("page.poweredBy")}</span>
          <LanguagePicker
            label={t("page.language")}
            current={language}
            languages={languageLinks(path, search)}
          />
        </footer>
      </div>
    </Document>
  );
}

/** Two columns on a desk, one on a phone: the summary, the card, and beneath what may be folded. */
export function Columns({ children }: { children: ReactNode }) {
  return (
    <main className="mx-auto grid w-full max-w-5xl grid-cols-1 content-start gap-6 px-5 pt-6 pb-10 sm:px-8 lg:grid-cols-[minmax(0,1fr)_27rem] lg:grid-rows-[auto_1fr] lg:gap-x-20 lg:gap-y-10 lg:pt-16">
      {children}
    </main>
  );
}

/** One card alone, for pages that have no payment to show. */
export function Alone({ children }: { children: ReactNode }) {
  return (
    <main className="mx-auto grid w-full max-w-md grid-cols-1 content-start px-5 pt-10 pb-10 lg:pt-24">
      <div className="rounded-box border border-line bg-card p-5 shadow-box sm:p-8">{children}</div>
    </main>
  );
}
