/** What one invariant turned out to be; a note says how much was looked at, or what part could not be. */
export type Finding =
  | { outcome: "ok"; note: string }
  | { outcome: "violated"; problems: number; examples: string[] }
  | { outcome: "not_checked"; note: string; failed: boolean };

/** How many problems of one invariant are told. */
export const EXAMPLES = 5;

/** A finding from a list of problems. */
export const judge = (problems: string[], note: string): Finding =>
  problems.length === 0
    ? { outcome: "ok", note }
    : { outcome: "violated", problems: problems.length, examples: problems.slice(0, EXAMPLES) };

/** Adds up findings of several parts of one invariant; a violated part makes it violated. */
export function together(parts: Finding[]): Finding {
  const violated = parts.filter((part) => part.outcome === "violated");
  if (violated.length > 0)
    return {
      outcome: "violated",
      problems: violated.reduce((sum, { problems }) => sum + problems, 0),
      examples: violated.flatMap(({ examples }) => examples).slice(0, EXAMPLES),
    };
  const failed = parts.find((part) => part.outcome === "not_checked" && part.failed);
  if (failed !== undefined) return failed;
  const notes = parts.flatMap((part) =>
    part.outcome === "violated" ? [] : [part.outcome === "ok" ? part.note : `not ${part.note}`],
  );
  return { outcome: "ok", note: notes.filter((note) => note !== "").join("; ") };
}
