"use client";
import { Check, TriangleAlert } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useLocale, useTranslations } from "use-intl";
import { Button } from "#components/ui/button.tsx";
import { formatPrice, Money } from "#components/ui/money.tsx";
import type { CollectForm as Asked } from "#server/contract/collect.ts";
import { createApiClient } from "#server/trpc/client.ts";
import { hasBridge, tellWallet } from "./bridge.ts";
import { CollectForm } from "./collect-form.tsx";
import type { Country } from "./country-names.ts";
import { CrashGuard } from "./crash-guard.tsx";
import type { Known } from "./model.ts";
import type { Refusal } from "./refusal.ts";
import { type Link, submitAnswers } from "./submit.ts";
import type { Ended } from "./use-details.ts";

/** What the page was opened with. */
export type Opened =
  | {
      kind: "open";
      asked: Pick<Asked, "required" | "oneOf" | "keptDays" | "merchant" | "amount" | "given">;
      link: Link;
      known: Known;
      today: string;
      countries: readonly Country[];
      termsUrl: string | null;
    }
  | { kind: "refused"; refusal: Refusal }
  | { kind: "unreachable" };

type OpenPage = Extract<Opened, { kind: "open" }>;

const MARKS = {
  good: { Icon: Check, colours: "bg-good-soft text-good" },
  warn: { Icon: TriangleAlert, colours: "bg-warn-soft text-warn" },
} as const;

/** Decoration: the headline says the same. */
function Mark({ mark }: { mark: keyof typeof MARKS }) {
  const { Icon, colours } = MARKS[mark];
  return (
    <span className={`mb-1 grid size-12 place-items-center rounded-full ${colours}`}>
      <Icon aria-hidden="true" className="size-6" />
    </span>
  );
}

/** A headline and a sentence; `arrives` where it takes the place of what the buyer was reading. */
function Words({
  title,
  text,
  mark,
  arrives = false,
  children,
}: {
  title: string;
  text: string;
  mark?: keyof typeof MARKS;
  arrives?: boolean;
  children?: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (arrives) heading.current?.focus();
  }, [arrives]);
  return (
    <div className="grid gap-3">
      {mark && <Mark mark={mark} />}
      <h1
        ref={heading}
        tabIndex={arrives ? -1 : undefined}
        className="font-semibold text-2xl leading-tight tracking-tight outline-none"
      >
        {title}
      </h1>
      <p className="text-quiet leading-relaxed">{text}</p>
      {children}
    </div>
  );
}

const TITLES = {
  link: "linkTitle",
  expired: "expiredTitle",
  state: "stateTitle",
  other: "otherTitle",
} as const satisfies Record<Refusal, string>;

function Refused({ refusal, arrives = false }: { refusal: Refusal; arrives?: boolean }) {
  const t = useTranslations("collect.refused");
  const title = t(TITLES[refusal]);
  useEffect(() => {
    tellWallet(window, { type: "IC_ERROR", error: title });
  }, [title]);
  return <Words mark="warn" title={title} text={t(refusal)} arrives={arrives} />;
}

function Unreachable() {
  const t = useTranslations("collect.trouble");
  return (
    <Words mark="warn" title={t("openTitle")} text={t("open")}>
      <Button wide onClick={() => window.location.reload()}>
        {t("again")}
      </Button>
    </Words>
  );
}

function Done({ heard }: { heard: boolean }) {
  const t = useTranslations("collect.done");
  return <Words arrives mark="good" title={t("title")} text={t(heard ? "wallet" : "alone")} />;
}

/** They gave their details before, on this link: nothing is shown of them, and nothing has to be typed again. */
function Given({ onGoOn, onChange }: { onGoOn: () => void; onChange: () => void }) {
  const t = useTranslations("collect.given");
  return (
    <Words mark="good" title={t("title")} text={t("text")}>
      <div className="mt-2 grid gap-2">
        <Button wide onClick={onGoOn}>
          {t("goOn")}
        </Button>
        <Button wide kind="quiet" onClick={onChange}>
          {t("change")}
        </Button>
      </div>
    </Words>
  );
}

function Asking({ page, onEnd }: { page: OpenPage; onEnd: (ended: Ended) => void }) {
  const t = useTranslations("collect");
  const locale = useLocale();
  const [client] = useState(() => createApiClient());
  const { asked, link } = page;
  const price = formatPrice(locale, asked.amount);
  return (
    <>
      <header className="grid gap-3">
        <p className="flex flex-wrap items-baseline justify-between gap-x-4 text-quiet text-sm">
          <bdi className="min-w-0 wrap-anywhere">{asked.merchant.name}</bdi>
          <Money className="font-medium text-ink">{price}</Money>
        </p>
        <Words title={t("title")} text={t("why", { days: asked.keptDays })} />
      </header>
      <CollectForm
        asked={asked}
        known={page.known}
        today={page.today}
        countries={page.countries}
        termsUrl={page.termsUrl}
        onSubmit={(answers) => submitAnswers(client, link, answers)}
        onEnd={onEnd}
      />
    </>
  );
}

/** What a wallet filled in for the buyer stands in the address; it leaves it once it is in the fields. */
function forgetPrefill(): void {
  const here = new URL(window.location.href);
  if (!here.searchParams.has("prefill")) return;
  here.searchParams.delete("prefill");
  window.history.replaceState(window.history.state, "", here);
}

/** One situation of the page at a time. */
function Situation({ opened, ended, heard, onEnd }: Life & { opened: Opened }) {
  const [again, setAgain] = useState(false);
  if (ended?.kind === "stored") return <Done heard={heard} />;
  if (ended?.kind === "refused") return <Refused arrives refusal={ended.refusal} />;
  if (opened.kind === "refused") return <Refused refusal={opened.refusal} />;
  if (opened.kind === "unreachable") return <Unreachable />;
  if (opened.asked.given && !again)
    return <Given onGoOn={() => onEnd({ kind: "stored" })} onChange={() => setAgain(true)} />;
  return <Asking page={opened} onEnd={onEnd} />;
}

type Life = { ended: Ended | null; heard: boolean; onEnd: (ended: Ended) => void };

/**
 * The whole life of the page: it ends with one message to the wallet, and says what comes next where no wallet listens.
 * `footer` leads to other pages, so it is gone once there is nothing left to do here.
 */
export function CollectPage({ opened, footer }: { opened: Opened; footer: ReactNode }) {
  const [ended, setEnded] = useState<Ended | null>(null);
  const [heard, setHeard] = useState(false);
  useEffect(forgetPrefill, []);
  const onEnd = (how: Ended) => {
    if (how.kind === "stored") {
      setHeard(hasBridge(window));
      tellWallet(window, { type: "IC_COMPLETE", success: true });
    }
    setEnded(how);
  };
  return (
    <>
      <main className="grid flex-1 content-start gap-6 bg-card px-5 py-6 sm:rounded-box sm:border sm:border-line sm:px-7 sm:py-8 sm:shadow-box">
        <CrashGuard fallback={<Refused arrives refusal="other" />}>
          <Situation opened={opened} ended={ended} heard={heard} onEnd={onEnd} />
        </CrashGuard>
      </main>
      {ended === null && opened.kind !== "refused" && (
        <footer className="px-3 pb-4 sm:px-2">{footer}</footer>
      )}
    </>
  );
}
