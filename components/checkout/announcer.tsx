"use client";
import { useEffect, useRef, useState } from "react";
import type { CheckoutView } from "#server/contract/checkout.ts";
import { HEADLINE_ID } from "./panel.tsx";
import { type Screen, secondsLeft } from "./state.ts";
import type { Words } from "./words.ts";

/** Minutes before the end at which the time is read out. */
const TOLD_AT = [5, 2, 1];

const spokenPart = (id: string): string => {
  const headline = document.getElementById(id);
  return [headline?.textContent, headline?.nextElementSibling?.textContent]
    .filter(Boolean)
    .join(". ");
};

/** The one place from which changes are read out: a new state, and the time at a few moments. Never what was there from the start. */
export function Announcer({
  words,
  screen,
  view,
  nowMs,
}: {
  words: Words;
  screen: Screen;
  view: CheckoutView;
  nowMs: number;
}) {
  const [text, setText] = useState("");
  const isOpen = view.status === "requires_action";
  const left = secondsLeft(view, nowMs);
  const minutes =
    isOpen && left > 0 ? (TOLD_AT.findLast((mark) => left <= mark * 60) ?? null) : null;
  const shown = useRef({ state: screen.state, step: "step" in screen ? screen.step.at : "" });
  const told = useRef(minutes);
  const at = "step" in screen ? screen.step.at : "";

  useEffect(() => {
    if (shown.current.state === screen.state && shown.current.step === at) return;
    shown.current = { state: screen.state, step: at };
    setText(spokenPart(HEADLINE_ID));
    // What had the focus is gone with the last screen: reading goes on from the new headline.
    const lost = document.activeElement === null || document.activeElement === document.body;
    if (lost) document.getElementById(HEADLINE_ID)?.focus({ preventScroll: true });
  }, [screen.state, at]);
  useEffect(() => {
    if (minutes === null || minutes === told.current) return;
    told.current = minutes;
    setText(words.t("page.announceLeft", { time: words.span(minutes * 60) }));
  }, [minutes, words]);
  return (
    <p role="status" aria-live="polite" className="sr-only">
      {text}
    </p>
  );
}
