import { Check } from "lucide-react";

export type StepState = "done" | "now" | "next";

const DOT: Record<StepState, string> = {
  done: "border-good bg-good text-card",
  now: "border-ink bg-card",
  next: "border-line bg-card",
};

/** A short way from left to right; `now` is the step being waited for. Words say the same for readers by ear. */
export function Steps({
  label,
  steps,
}: {
  label: string;
  steps: readonly { name: string; state: StepState; spoken: string }[];
}) {
  return (
    <ol aria-label={label} className="flex">
      {steps.map(({ name, state, spoken }, index) => (
        <li
          key={name}
          aria-current={state === "now" ? "step" : undefined}
          className="relative flex flex-1 flex-col items-center gap-2 text-center text-xs sm:text-sm"
        >
          {index > 0 && (
            <span
              aria-hidden="true"
              className={`-z-0 absolute inset-e-1/2 top-2.75 h-0.5 w-full ${state === "next" ? "bg-line" : "bg-good"}`}
            />
          )}
          <span
            aria-hidden="true"
            className={`relative grid size-6 place-items-center rounded-full border-2 ${DOT[state]}`}
          >
            {state === "done" && <Check className="size-3.5" strokeWidth={3} />}
            {state === "now" && (
              <span className="size-2 motion-safe:animate-pulse rounded-full bg-ink" />
            )}
          </span>
          <span className={state === "next" ? "text-quiet" : "font-medium text-ink"}>
            {name}
            <span className="sr-only"> {spoken}</span>
          </span>
        </li>
      ))}
    </ol>
  );
}
