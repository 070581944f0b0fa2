"use client";
import type { ReactNode } from "react";
import type { AbstractIntlMessages } from "use-intl";
import { IntlProvider } from "use-intl/react";
import type { Compiled } from "./compile.ts";
import { localeOf } from "./languages.ts";

function fail(error: Error): never {
  throw error;
}

/** Gives the components below the messages of one language; a missing one is an error and never a bare key. */
export function Messages({
  language,
  messages,
  children,
}: {
  language: string;
  messages: Compiled;
  children: ReactNode;
}) {
  return (
    <IntlProvider
      locale={localeOf(language)}
      messages={messages as AbstractIntlMessages}
      timeZone="UTC"
      onError={fail}
    >
      {children}
    </IntlProvider>
  );
}
