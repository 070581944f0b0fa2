/**
 * What one invariant turned out to be; a note says how much was looked at. `unchecked` are the parts of what is ok that were not
 * looked at, each with why; the note tells them too.
 */
export type Finding =
  | { outcome: "ok"; note: string; unchecked: string[] }
  | { outcome: "violated"; problems: number; examples: string[] }
  | { outcome: "not_checked"; note: string; failed: boolean };

/** How many problems of one invariant are told. */
export const EXAMPLES = 5;

/** A finding from a list of problems. */
export const judge = (problems: string[], note: string, unchecked: string[] = []): Finding =>
  problems.length === 0
    ? {
        outcome: "ok",
        note: [note, ...unchecked].filter((one) => one !== "").join("; "),
        unchecked,
      }
    : { outcome: "violated", problems: problems.length, examples: problems.slice(0, EXAMPLES) };

/** Adds up findings of several parts of one invariant; a violated part makes it violated, and one that is ok at least ok in part. */
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
  const rest = parts.filter((part) => part.outcome !== "violated");
  const notes = [...new Set(rest.map(({ note }) => note))].filter((one) => one !== "");
  const note = notes.join("; ");
  if (rest.every(({ outcome }) => outcome === "not_checked"))
    return { outcome: "not_checked", note, failed: false };
  const unchecked = rest.flatMap((part) => (part.outcome === "ok" ? part.unchecked : [part.note]));
  return { outcome: "ok", note, unchecked: [...new Set(unchecked)] };
}
