import { Check } from "lucide-react";

export type StepState = "done" | "now" | "next";

const DOT: Record<StepState, string> = {
  done: "border-good bg-good text-card",
  now: "border-ink bg-card",
  next: "border-line bg-card",
};

/** From the dot before to this one: downwards, or across where the steps stand side by side. */
const LINE =
  "absolute inset-s-2.75 bottom-1/2 h-full border-s-2 @min-[15rem]:inset-s-auto @min-[15rem]:inset-e-1/2 @min-[15rem]:top-2.75 @min-[15rem]:bottom-auto @min-[15rem]:h-0 @min-[15rem]:w-full @min-[15rem]:border-s-0 @min-[15rem]:border-t-2";

/**
 * A short way from left to right, or downwards where letters are too large for that; `now` is the step being waited for. Words say the
 * same for readers by ear. Lines and dots are drawn as borders, which stay where a reader's own colours replace ours.
 */
export function Steps({
  label,
  steps,
}: {
  label: string;
  steps: readonly { name: string; state: StepState; spoken: string }[];
}) {
  return (
    <div className="@container">
      <ol aria-label={label} className="isolate grid @min-[15rem]:flex">
        {steps.map(({ name, state, spoken }, index) => (
          <li
            key={name}
            aria-current={state === "now" ? "step" : undefined}
            className="relative flex min-w-0 items-center gap-3 py-2 text-xs sm:text-sm @min-[15rem]:flex-1 @min-[15rem]:flex-col @min-[15rem]:gap-2 @min-[15rem]:py-0 @min-[15rem]:text-center"
          >
            {index > 0 && (
              <span
                aria-hidden="true"
                className={`${LINE} ${state === "next" ? "border-line" : "border-good"}`}
              />
            )}
            <span
              aria-hidden="true"
              className={`relative z-10 grid size-6 shrink-0 place-items-center rounded-full border-2 ${DOT[state]}`}
            >
              {state === "done" && <Check className="size-3.5" strokeWidth={3} />}
              {state === "now" && (
                <span className="size-2 motion-safe:animate-pulse rounded-full border-4 border-ink" />
              )}
            </span>
            <span
              className={`wrap-anywhere max-w-full px-1 ${state === "next" ? "text-quiet" : "font-medium text-ink"}`}
            >
              {name}
              <span className="sr-only"> {spoken}</span>
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}
