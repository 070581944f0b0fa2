"use client";
import { type ReactNode, useMemo } from "react";
import { Disclosure } from "#components/ui/disclosure.tsx";
import { Announcer } from "./announcer.tsx";
import { FactsList } from "./facts-list.tsx";
import { phaseOf } from "./phase.ts";
import { CheckoutScreen } from "./screen.tsx";
import type { ScreenProps } from "./screen-props.ts";
import type { Screen, StateName } from "./state.ts";
import { Summary } from "./summary.tsx";
import { useWords } from "./use-words.ts";

/** States in which another device could still pay; in all others the code is gone, so that nobody scans a dead one. */
const SCANNABLE: readonly StateName[] = [
  "ready",
  "connecting",
  "options",
  "no_option",
  "nearly_expired",
  "still_due",
];

/** A phone has its wallets first and the code behind a toggle; a desk shows the code. */
function ScanCode({ qr, t }: { qr: ReactNode; t: ReturnType<typeof useWords>["t"] }) {
  return (
    <div className="print:hidden">
      <Disclosure title={t("qr.toggle")} className="border-line border-t lg:hidden">
        <div className="grid justify-items-center gap-3 pb-4">
          <div className="w-52">{qr}</div>
          <p className="text-center text-quiet text-sm">{t("qr.help")}</p>
        </div>
      </Disclosure>
      <div className="hidden items-center gap-5 lg:flex">
        <div className="w-36 shrink-0">{qr}</div>
        <div className="grid max-w-52 gap-1">
          <h2 className="font-medium">{t("qr.title")}</h2>
          <p className="text-quiet text-sm leading-relaxed">{t("qr.help")}</p>
        </div>
      </div>
    </div>
  );
}

/** Where everything that moves is drawn: the summary, the screen in its card, and beneath the summary the code and the details. */
export function Stage({
  screen,
  qr,
  given,
}: {
  screen: Screen;
  qr: ReactNode;
  given: Omit<ScreenProps, "words">;
}) {
  const words = useWords();
  const props = useMemo(() => ({ ...given, words }), [given, words]);
  const { view, nowMs } = given;
  return (
    <>
      <div className="lg:col-start-1 lg:row-start-1">
        <Summary words={words} view={view} phase={phaseOf(view, screen.state)} />
      </div>
      <div className="min-w-0 self-start rounded-box border border-line bg-card p-5 shadow-box sm:p-8 lg:col-start-2 lg:row-span-2 lg:row-start-1 print:border-0 print:p-0 print:shadow-none">
        <CheckoutScreen screen={screen} props={props} />
      </div>
      <div className="grid grid-cols-1 content-start gap-2 lg:col-start-1 lg:row-start-2 lg:gap-8">
        {SCANNABLE.includes(screen.state) && qr !== null && <ScanCode qr={qr} t={words.t} />}
        <div className="border-line border-t">
          <FactsList words={words} view={view} />
        </div>
      </div>
      <Announcer words={words} screen={screen} view={view} nowMs={nowMs} />
    </>
  );
}
