"use client";
import { lazy, type MouseEvent, type ReactNode, Suspense, useEffect, useState } from "react";
import type { PageAction } from "../act.ts";
import { Stage } from "../stage.tsx";
import type { StateName } from "../state.ts";
import { NOW_S, WALLETS } from "./fixtures.ts";
import { galleryScreen, type Variation } from "./states.ts";

const GalleryForm = lazy(async () => ({
  default: (await import("./gallery-form.tsx")).GalleryForm,
}));

/** A state as it is in a payment, but that nothing happens: what would is written on the frame. */
export function GalleryStage({
  state,
  variation,
  qr,
  link,
}: {
  state: StateName;
  variation: Variation;
  qr: ReactNode;
  link: string;
}) {
  const [fired, setFired] = useState("");
  const [isLive, setIsLive] = useState(false);
  useEffect(() => setIsLive(true), []);
  const { screen, view } = galleryScreen(state, variation);
  const asks = state === "information" || state === "information_rejected";
  const onClick = (event: MouseEvent) => {
    const target = event.target instanceof Element ? event.target.closest("[data-main]") : null;
    if (target === null) return;
    if (target instanceof HTMLAnchorElement) event.preventDefault();
    setFired(target.textContent ?? "");
  };
  return (
    <div className="contents" data-live={isLive} data-fired={fired} onClickCapture={onClick}>
      <Stage
        screen={screen}
        qr={qr}
        given={{
          view,
          act: (action: PageAction) => setFired((known) => known || action.do),
          nowMs: NOW_S * 1000,
          wallets: WALLETS,
          lastWallet: null,
          link,
          returns: false,
          sent: null,
          openEnd: null,
          // Its code may come before the server's own drawing of it does: then both would stand on the page.
          form: asks && isLive && (
            <Suspense>
              <GalleryForm
                rejected={state === "information_rejected"}
                onSent={() => setFired("sent")}
              />
            </Suspense>
          ),
        }}
      />
    </div>
  );
}
