"use client";
import { useEffect, useRef, useState } from "react";
import { Button, ButtonLink } from "#components/ui/button.tsx";
import type { ScreenProps } from "./screen-props.ts";
import { tabMemory } from "./tab-memory.ts";

/** Seconds before the page goes back to the shop by itself. */
const COUNTDOWN_S = 3;

/** Counts down and leaves, unless it is stopped; once stopped it stays so for this payment in this tab. */
function Countdown({ url, props }: { url: string; props: ScreenProps }) {
  const { t, span } = props.words;
  const key = `florin:stay:${props.view.id}`;
  const [left, setLeft] = useState(COUNTDOWN_S);
  const [stopped, setStopped] = useState(false);
  const stopButton = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (stopped || tabMemory.read(key) !== null) return setStopped(true);
    if (left === 0) {
      tabMemory.write(key, "1");
      return window.location.assign(url);
    }
    const timer = setTimeout(() => setLeft(left - 1), 1000);
    return () => clearTimeout(timer);
  }, [left, stopped, url, key]);
  const stop = () => {
    tabMemory.write(key, "1");
    setStopped(true);
    stopButton.current?.focus();
  };
  return (
    <>
      <ButtonLink ref={stopButton} href={url} data-main wide>
        {t("action.backToShop", { merchant: props.view.merchant.name })}
      </ButtonLink>
      {!stopped && (
        <p className="mt-2 flex flex-wrap items-center justify-center gap-x-1 text-quiet text-sm print:hidden">
          <span className="digits">
            {t("redirect.countdown", { merchant: props.view.merchant.name, time: span(left) })}
          </span>
          <Button kind="quiet" className="text-sm" onClick={stop}>
            {t("action.stay")}
          </Button>
        </p>
      )}
    </>
  );
}

/** The way back to the shop; none where the shop wants none. Only a success leads there by itself. */
export function ReturnToShop({
  props,
  to,
  label = "action.backToShop",
}: {
  props: ScreenProps;
  to: "success" | "error";
  label?: "action.backToShop" | "action.newPayment" | "action.claim";
}) {
  const { redirect, merchant } = props.view;
  if (redirect === null) return null;
  const url = to === "success" ? redirect.successUrl : redirect.errorUrl;
  if (to === "success" && props.returns) return <Countdown url={url} props={props} />;
  return (
    <ButtonLink href={url} data-main wide>
      {props.words.t(label, { merchant: merchant.name })}
    </ButtonLink>
  );
}
