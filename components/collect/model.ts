import type { CollectField, CollectForm } from "#server/contract/collect.ts";
import { OLDEST_YEARS } from "#server/domain/collect/validate.ts";

/** What is asked, as the server says it: all of `required`, and one whole group of `oneOf`. */
export type Asked = Pick<CollectForm, "required" | "oneOf">;

/** What the buyer is known to be, by field name. */
export type Known = Readonly<Record<string, string | undefined>>;

const isConsent = ({ kind }: CollectField): boolean => kind === "consent";

/** What is to be filled in before the places, and what is to be agreed to after them. */
export const answersOf = ({ required }: Asked): CollectField[] =>
  required.filter((field) => !isConsent(field));
export const consentsOf = ({ required }: Asked): CollectField[] => required.filter(isConsent);

/** Everything on screen while the group at `chosen` is, in order. */
export const shownFields = (asked: Asked, chosen: number): CollectField[] => [
  ...answersOf(asked),
  ...(asked.oneOf[chosen] ?? []),
  ...consentsOf(asked),
];

/** The group of which most is known already, else the first. */
export function groupKnownBest({ oneOf }: Asked, known: Known): number {
  const counts = oneOf.map((fields) => fields.filter(({ name }) => known[name]).length);
  return Math.max(0, counts.indexOf(Math.max(0, ...counts)));
}

/** First and last date of birth the rules accept, for a control that offers dates; `today` as YYYY-MM-DD. */
export function birthBounds(today: string): { min: string; max: string } {
  const yesterday = new Date(Date.parse(`${today}T00:00:00Z`) - 86_400_000);
  const oldest = parseInt(today.slice(0, 4), 10) - OLDEST_YEARS;
  return { min: `${oldest}-01-01`, max: utcDay(yesterday) };
}

/** The day in UTC, YYYY-MM-DD, as the server reckons it. */
export const utcDay = (at: Date): string => at.toISOString().slice(0, 10);

const PURPOSE: Readonly<Record<string, string>> = {
  fullName: "name",
  dob: "bday",
  porCountry: "country",
  porAddress: "address-line1",
};

/** What a browser may fill in by itself; `off` where it knows nothing that fits. */
export const purposeOf = (name: string): string => PURPOSE[name] ?? "off";
