import type { ReactNode } from "react";
import { directionOf, type Language } from "#components/messages/languages.ts";

/** The whole page: pages of buyers bring their own `html`, since its language is known to the page alone. */
export function Document({
  language,
  nonce,
  css,
  children,
}: {
  language: Language;
  /** Of the Content-Security-Policy; without one `css` may be refused. */
  nonce: string | undefined;
  /** A merchant's colours, checked. */
  css?: string | null;
  children: ReactNode;
}) {
  return (
    <html lang={language} dir={directionOf(language)}>
      <body className="min-h-dvh font-sans antialiased">
        {/* biome-ignore lint/security/noDangerouslySetInnerHtml: made of two checked colours */}
        {css && <style nonce={nonce} dangerouslySetInnerHTML={{ __html: css }} />}
        {children}
      </body>
    </html>
  );
}
