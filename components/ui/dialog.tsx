"use client";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";

/** The lock on scrolling beneath writes a style of its own; the page's policy lets only styles with its nonce through. */
if (typeof document !== "undefined")
  Object.assign(globalThis, {
    __webpack_nonce__: document.querySelector<HTMLElement>("[nonce]")?.nonce,
  });

/** A question in front of the page; closes on Escape and gives the focus back. Load it only when it is opened. */
export function Dialog({
  title,
  text,
  onClose,
  children,
}: {
  title: string;
  text: string;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <Radix.Root
      open
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-20 bg-black/45" />
        <Radix.Content className="fixed inset-x-4 bottom-4 z-20 mx-auto grid max-h-[calc(100dvh-2rem)] max-w-md gap-3 overflow-y-auto rounded-box bg-card p-6 shadow-box sm:top-1/2 sm:bottom-auto sm:-translate-y-1/2">
          <Radix.Title className="wrap-anywhere font-semibold text-xl leading-snug">
            {title}
          </Radix.Title>
          <Radix.Description className="wrap-anywhere text-quiet">{text}</Radix.Description>
          <div className="mt-2 grid grid-cols-1 gap-2">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
