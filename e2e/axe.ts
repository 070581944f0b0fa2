import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";

/** Rules of WCAG 2.2 AA, and what is good practice beyond them. */
const STRICT = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Those of them that look at colours, which are all that a theme changes. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];

type Violations = [rule: string, elements: string[]][];

// Without the frames of other origins, which no page of ours has, one look is enough.
const axeOn = (page: Page) => new AxeBuilder({ page }).setLegacyMode();

async function found(axe: AxeBuilder): Promise<Violations> {
  const { violations } = await axe.analyze();
  return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
}

/** What axe finds on a page: rules with the elements that break them; `except` leaves rules out. */
export const violationsOf = (page: Page, except: string[] = []): Promise<Violations> =>
  found(axeOn(page).withTags(STRICT).disableRules(except));

/** What axe finds on a page in light and then in dark. */
export async function violationsInBothThemes(page: Page): Promise<Violations> {
  await page.emulateMedia({ colorScheme: "light" });
  const inLight = await violationsOf(page);
  await page.emulateMedia({ colorScheme: "dark" });
  return [...inLight, ...(await found(axeOn(page).withRules(OF_COLOURS)))];
}
