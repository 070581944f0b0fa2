import type { Code, Note, Situation } from "./situation.ts";
import { ENDED } from "./texts/ended.ts";
import { NOTES } from "./texts/notes.ts";
import { type Actor, NOTHING, type Text } from "./texts/text.ts";
import { UNDERWAY } from "./texts/underway.ts";

/** One line for people: what is the case, who can move it on, and how. */
export type Line = { code: string; sentence: string; actor: Actor; nextStep: string };

/** Why a payment is where it is; `notes` has one line for each open exception and each refund. */
export type Explanation = Line & { notes: Line[] };

/** Every sentence there is about a payment's state; checkout, dashboard and command line read it here. */
export const TEXTS = { ...UNDERWAY, ...ENDED } satisfies { [C in Code]: unknown };

/** The entry of a case; entries are typed by their own case, which its code names. */
const textOf = <S extends { code: string }>(texts: { [C in S["code"]]: unknown }, s: S): Text<S> =>
  texts[s.code as S["code"]] as Text<S>;

function line<S extends { code: string }>(texts: { [C in S["code"]]: unknown }, s: S): Line {
  const { sentence, actor, nextStep } = textOf(texts, s);
  return { code: s.code, sentence: sentence(s), actor, nextStep: nextStep(s) };
}

/** Turns a situation into words. Pure and total: every code has a text. */
export function explain(situation: Situation, notes: Note[] = []): Explanation {
  const main = line(TEXTS, situation);
  const strayMoney = notes.some(({ code }) => code.startsWith("exception."));
  return {
    ...main,
    sentence: strayMoney ? main.sentence.replace(` ${NOTHING}`, "") : main.sentence,
    notes: notes.map((note) => line(NOTES, note)),
  };
}
