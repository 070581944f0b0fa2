"use client";
import { useCallback, useEffect, useRef, useState } from "react";
import type { CheckoutView } from "#server/contract/checkout.ts";
import type { ApiClient } from "#server/trpc/client.ts";
import { backoff } from "./load-code.ts";
import { refusalIn } from "./refusal.ts";
import { isOver } from "./state.ts";

/** A wait that is answered at once says nothing new; asking again at once would be a hammer. */
const QUICK_MS = 1_000;
/** How long a read is held by the server, and after how long without an answer the line counts as lost. */
const HELD_MS = 25_000;
const PATIENCE_MS = 40_000;

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** `signal`, or the end of our patience. */
function patient(signal: AbortSignal): { signal: AbortSignal; done: () => void } {
  const call = new AbortController();
  const end = () => call.abort();
  const timer = setTimeout(end, PATIENCE_MS);
  signal.addEventListener("abort", end);
  const done = () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  };
  return { signal: call.signal, done };
}

type Listener = { seen: (view: CheckoutView) => void; lost: (failures: number) => void };

/** Follows the payment until it is over or `signal` ends it; the first read is at once where `fresh`. */
async function follow(
  api: ApiClient,
  start: { id: string; version: string; fresh: boolean },
  { seen, lost }: Listener,
  signal: AbortSignal,
): Promise<void> {
  const { id } = start;
  let { version, fresh } = start;
  let failures = 0;
  while (!signal.aborted) {
    const askedAt = Date.now();
    const call = patient(signal);
    try {
      const view = fresh
        ? await api.checkout.view.query({ id }, { signal: call.signal })
        : await api.checkout.wait.query({ id, version, maxMs: HELD_MS }, { signal: call.signal });
      if (signal.aborted) return;
      const isNew = view.version !== version;
      ({ version } = view);
      [failures, fresh] = [0, false];
      seen(view);
      if (isOver(view)) return;
      if (!isNew && Date.now() - askedAt < QUICK_MS) await pause(2 * QUICK_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      fresh = true;
      const refusal = refusalIn(error);
      if (refusal === null) lost(failures);
      await pause(Math.max(backoff(failures), (refusal?.retryAfterS ?? 0) * 1000), signal);
    } finally {
      call.done();
    }
  }
}

/** Two calls in a row have to fail before a buyer is told to be offline; the browser's own word counts at once. */
const LOST_AFTER = 2;

/** The payment as it stands now, kept so by a held call; wakes when the tab is looked at again and when the line is back. */
export function useLiveView(initial: CheckoutView, getApi: () => Promise<ApiClient>) {
  const [view, setView] = useState(initial);
  const [offline, setOffline] = useState(false);
  const [round, setRound] = useState(0);
  const goesOn = !isOver(view);
  const current = useRef(view);
  current.current = view;
  const see = useCallback((next: CheckoutView) => {
    setOffline(false);
    setView((known) => (known.isFinal && !next.isFinal ? known : next));
  }, []);
  const wake = useCallback(() => setRound((value) => value + 1), []);

  useEffect(() => {
    if (!goesOn) return;
    const { id, version } = current.current;
    const stop = new AbortController();
    const lost = (failures: number) => {
      if (failures >= LOST_AFTER || !navigator.onLine) setOffline(true);
    };
    void getApi().then((api) =>
      follow(api, { id, version, fresh: round > 0 }, { seen: see, lost }, stop.signal),
    );
    return () => stop.abort();
  }, [round, getApi, see, goesOn]);

  useEffect(() => {
    const look = () => document.visibilityState === "visible" && wake();
    const leave = () => setOffline(true);
    // The line may have gone before anybody here could hear of it.
    if (!navigator.onLine) leave();
    document.addEventListener("visibilitychange", look);
    window.addEventListener("pageshow", look);
    window.addEventListener("online", wake);
    window.addEventListener("offline", leave);
    return () => {
      document.removeEventListener("visibilitychange", look);
      window.removeEventListener("pageshow", look);
      window.removeEventListener("online", wake);
      window.removeEventListener("offline", leave);
    };
  }, [wake]);
  return { view, offline, see, wake };
}
