"use client";
import { Check, Copy } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { buttonLook } from "./button.tsx";

const SHOWN_MS = 2_000;

/** Falls back to a hidden text field: inside some wallets' browsers there is no clipboard API. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    field.setAttribute("readonly", "");
    field.className = "sr-only";
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}

const SMALL =
  "inline-flex min-h-11 min-w-11 cursor-pointer items-center justify-center gap-2 rounded-control px-2 text-sm hover:bg-soft print:hidden";

function lookOf(isMain: boolean, done: boolean): string {
  if (isMain) return buttonLook({ kind: "secondary", wide: true });
  return `${SMALL} ${done ? "text-good" : "text-quiet hover:text-ink"}`;
}

/** Copies `text` and says so in its own place; keeps the focus. `label` names what is copied, `copied` follows it. */
export function CopyButton({
  text,
  label,
  copied,
  className,
  isMain = false,
}: {
  text: string;
  label: string;
  copied: string;
  className?: string;
  /** The main action of its screen: a whole button with its label, and not a small mark. */
  isMain?: boolean;
}) {
  const [done, setDone] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [done]);
  const onClick = async () => {
    const worked = await copy(text);
    button.current?.focus();
    setDone(worked);
  };
  const Icon = done ? Check : Copy;
  return (
    <button
      ref={button}
      type="button"
      data-main={isMain || undefined}
      onClick={() => void onClick()}
      className={`noscript:hidden ${lookOf(isMain, done)} ${className ?? ""}`}
    >
      <Icon aria-hidden="true" className="size-4 shrink-0" />
      {isMain ? (
        <span aria-hidden="true">{done ? copied : label}</span>
      ) : (
        done && <span aria-hidden="true">{copied}</span>
      )}
      <span className="sr-only">{label}</span>
      <span className="sr-only" role="status">
        {done ? copied : ""}
      </span>
    </button>
  );
}
