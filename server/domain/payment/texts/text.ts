import type { Code, SituationOf } from "../situation.ts";

/** Who can move a payment on. */
export const ACTORS = ["buyer", "merchant", "operator", "service", "nobody"] as const;
export type Actor = (typeof ACTORS)[number];

/** What is said of one case; `S` carries its figures. */
export type Text<S> = {
  sentence: (s: S) => string;
  actor: Actor;
  nextStep: (s: S) => string;
};

/** Texts for every reason of some statuses: a code without a text does not compile. */
export type TextsOf<S extends string> = {
  [C in Extract<Code, `${S}.${string}`>]: Text<SituationOf<C>>;
};

/** Left out where money that is not the payment did arrive: a line of its own then says so. */
export const NOTHING = "Nothing was charged.";
