import { type FormEvent, useEffect, useRef, useState } from "react";
import { type Answers, answersFrom, checkAnswers, mapIssues, type Problems } from "./check.ts";
import { type Asked, shownFields } from "./model.ts";
import type { Submitted } from "./submit.ts";

/** Why the form is still here although it was sent. */
export type Trouble = "unreachable" | "busy" | "rejected";

/** What ends the form. */
export type Ended = Extract<Submitted, { kind: "stored" | "refused" }>;

export type FormEvents = {
  /** Sends the answers; must not throw. */
  onSubmit(answers: Answers): Promise<Submitted>;
  /** Called once, when there is nothing left to fill in. */
  onEnd(ended: Ended): void;
};

type Attempt = { number: number; problems: Problems };

/** Where a form is between its first key and its end. One sending at a time; after the end none. */
export function useDetails(asked: Asked, today: string, chosen: number, events: FormEvents) {
  const form = useRef<HTMLFormElement>(null);
  const closed = useRef(false);
  const [problems, setProblems] = useState<Problems>({});
  const [attempt, setAttempt] = useState<Attempt>({ number: 0, problems: {} });
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const [sending, setSending] = useState(false);
  const fields = shownFields(asked, chosen);

  const show = (found: Problems) => {
    setProblems(found);
    setAttempt(({ number }) => ({ number: number + 1, problems: found }));
  };
  useEffect(() => {
    if (attempt.number === 0) return;
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [attempt]);

  async function send(answers: Answers) {
    closed.current = true;
    setSending(true);
    setTrouble(null);
    const result = await events.onSubmit(answers);
    if (result.kind === "stored" || result.kind === "refused") return events.onEnd(result);
    const found = result.kind === "rejected" ? mapIssues(fields, result.issues) : {};
    if (Object.keys(found).length === 0) setTrouble(result.kind);
    closed.current = false;
    setSending(false);
    show(found);
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (closed.current) return;
    const written = new FormData(event.currentTarget);
    const answers = answersFrom(fields, (name) => String(written.get(name) ?? ""));
    const found = checkAnswers(fields, answers, today);
    if (Object.keys(found).length > 0) {
      setTrouble(null);
      show(found);
    } else void send(answers);
  }

  /** What was wrong with a field is not said any longer once it is being changed. */
  const mend = (name: string) => setProblems(({ [name]: _, ...rest }) => rest);

  return { form, fields, problems, attempt, trouble, sending, submit, mend };
}
