import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Spinner } from "#components/ui/spinner.tsx";

const TONES = {
  plain: "bg-soft text-ink",
  good: "bg-good-soft text-good",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
} as const;

/** What the eye meets first in a state: a sign, or a turning ring where something is awaited. */
export function Sign({
  icon: Icon,
  tone = "plain",
}: {
  icon: LucideIcon | "wait";
  tone?: keyof typeof TONES;
}) {
  return (
    <span
      aria-hidden="true"
      className={`grid size-11 shrink-0 place-items-center rounded-full ${TONES[tone]}`}
    >
      {Icon === "wait" ? <Spinner className="size-5" /> : <Icon className="size-5" />}
    </span>
  );
}

/** As wide as the card. */
const FOOT = "foot-bar -mx-5 mt-5 border-line border-t bg-card px-5 pt-3 sm:-mx-8 sm:px-8";

export const HEADLINE_ID = "headline";

/** One state: one headline, one line of help, one main action; `others` are the quiet ways out. */
export function Panel({
  sign,
  corner,
  title,
  help,
  children,
  main,
  mainStays = false,
  others,
}: {
  sign?: ReactNode;
  corner?: ReactNode;
  title: string;
  help: string;
  children?: ReactNode;
  main?: ReactNode;
  /** Keeps the main action in sight at the foot of the screen while what stands over it is longer than that. */
  mainStays?: boolean;
  others?: ReactNode;
}) {
  return (
    <section aria-labelledby={HEADLINE_ID} className="flex flex-col motion-safe:animate-arrive">
      {(sign || corner) && (
        <div className="mb-5 flex min-h-11 items-center justify-between gap-4">
          {sign ?? <span />}
          {corner}
        </div>
      )}
      <h1
        id={HEADLINE_ID}
        tabIndex={-1}
        className="wrap-anywhere text-balance font-semibold text-2xl leading-tight tracking-tight outline-none"
      >
        {title}
      </h1>
      <p className="wrap-anywhere mt-2 text-pretty text-quiet leading-relaxed">{help}</p>
      {children && <div className="mt-6 grid grid-cols-1 gap-4 empty:hidden">{children}</div>}
      {main && (
        <div className={`grid grid-cols-1 empty:hidden ${mainStays ? FOOT : "mt-6"}`}>{main}</div>
      )}
      {others && (
        <div className="-mb-2 mt-2 flex flex-wrap justify-center gap-x-2 empty:hidden sm:-mb-4 print:hidden">
          {others}
        </div>
      )}
    </section>
  );
}
