import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";

/** Rules of WCAG 2.2 AA, and what is good practice beyond them. */
const STRICT = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** What axe finds on a page: rules with the elements that break them; `except` leaves rules out. */
export async function violationsOf(
  page: Page,
  except: string[] = [],
): Promise<[rule: string, elements: string[]][]> {
  // Without the frames of other origins, which no page of ours has, one look is enough.
  const axe = new AxeBuilder({ page }).setLegacyMode().withTags(STRICT).disableRules(except);
  const { violations } = await axe.analyze();
  return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
}
