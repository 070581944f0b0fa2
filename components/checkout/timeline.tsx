import { type StepState, Steps } from "#components/ui/steps.tsx";
import type { Words } from "./words.ts";

const ORDER = ["submitted", "confirming", "done"] as const;

/** How far a payment that was handed in has come. `done` once it is final. */
export function Timeline({
  words: { t },
  now,
}: {
  words: Words;
  now: "submitted" | "confirming" | "done";
}) {
  const at = ORDER.indexOf(now);
  const stateOf = (index: number): StepState => {
    if (index < at || now === "done") return "done";
    // "Received" is already true when it is said; what is under way is what comes after it.
    if (index === 0) return "done";
    return index === Math.max(at, 1) ? "now" : "next";
  };
  const spoken = {
    done: "timeline.doneSpoken",
    now: "timeline.nowSpoken",
    next: "timeline.nextSpoken",
  } as const;
  return (
    <Steps
      label={t("timeline.list")}
      steps={ORDER.map((name, index) => {
        const state = stateOf(index);
        return { name: t(`timeline.${name}`), state, spoken: t(spoken[state]) };
      })}
    />
  );
}
