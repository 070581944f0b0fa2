import type { ReactNode } from "react";

const TONES = {
  plain: "bg-soft text-ink",
  good: "bg-good-soft text-good",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
} as const;

export type Tone = keyof typeof TONES;

/** A short remark set apart from the text; not announced by itself, see the message area of the page. */
export function Notice({ tone = "plain", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <div
      className={`wrap-anywhere rounded-control border border-transparent px-4 py-3 text-sm leading-relaxed ${TONES[tone]}`}
    >
      {children}
    </div>
  );
}
