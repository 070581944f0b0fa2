import { accentCss, accentIn } from "#components/checkout/accent.ts";
import type { Theme } from "./link.ts";

/** The style sheet that gives the page a merchant's colour, in the wallet's scheme where it names one; null: no colour. */
export function themeCss(accent: string | null, theme: Theme | null): string | null {
  if (accent === null || theme === null) return accentCss(accent);
  const colours = accentIn(accent, theme);
  if (colours === null) return null;
  const [ground, ink] = [colours.ground, colours.ink].map((rgb) => `rgb(${rgb.join(" ")})`);
  return `:root:has([data-theme]){--accent:${ground};--accent-ink:${ink};--accent-text:${ground}}`;
}
