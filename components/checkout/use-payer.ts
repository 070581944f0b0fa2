"use client";
import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from "react";
import type { WalletChain, WalletFinder, WalletInfo } from "#components/wallet/kit.ts";
import type { CheckoutView } from "#server/contract/checkout.ts";
import type { ApiClient } from "#server/trpc/client.ts";
import type { PageAction } from "./act.ts";
import { payingWallets } from "./families.ts";
import { isRejection, mayArrive, needsApproval, nextStep, START, type Step } from "./flow.ts";
import { loadCode } from "./load-code.ts";
import type { Payer } from "./payer.ts";
import { tookNothing } from "./state.ts";
import { sentKey, tabMemory } from "./tab-memory.ts";

type Parts = {
  view: CheckoutView;
  chains: readonly WalletChain[];
  getApi: () => Promise<ApiClient>;
  see: (view: CheckoutView) => void;
  wake: () => void;
};

/** Loads the finder of wallets and listens to it; null while nothing was found out yet. */
function useWallets(sandbox: boolean, getApi: () => Promise<ApiClient>, isOpen: boolean) {
  const finder = useRef<WalletFinder | null>(null);
  const [wallets, setWallets] = useState<readonly WalletInfo[] | null>(null);
  useEffect(() => {
    if (!isOpen) return;
    let stop = () => {};
    let isHere = true;
    void loadCode(() => import("./load-finder.ts")).then(({ loadFinder }) => {
      if (!isHere) return;
      finder.current ??= loadFinder(sandbox, getApi);
      const show = () => setWallets(finder.current?.wallets() ?? []);
      stop = finder.current.subscribe(show);
      show();
    });
    return () => {
      isHere = false;
      stop();
    };
  }, [sandbox, getApi, isOpen]);
  return { finder, wallets };
}

/** How often, and how many times, a closed payment is read for money that is on its way: ten minutes. */
const ARRIVAL_EVERY_MS = 3_000;
const ARRIVAL_LOOKS = 200;

/** Nobody reads a closed payment again; where a wallet may send to it all the same, its buyer's page does until the money is there. */
function useArrivals({ view, getApi, see }: Pick<Parts, "view" | "getApi" | "see">, step: Step) {
  const { id } = view;
  const isAwaited = tookNothing(view.stage) && mayArrive(step);
  useEffect(() => {
    if (!isAwaited) return;
    let isHere = true;
    const look = async () => {
      const next = await (await getApi()).checkout.view.query({ id });
      if (next.arrivals.length > 0) tabMemory.forget(sentKey(id));
      if (isHere) see(next);
    };
    void (async () => {
      for (let looks = 0; isHere && looks < ARRIVAL_LOOKS; looks++) {
        await look().catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, ARRIVAL_EVERY_MS));
      }
    })();
    return () => {
      isHere = false;
    };
  }, [isAwaited, id, getApi, see]);
}

/** The buyer's side of the payment: where they stand, and what each of their clicks does. */
export function usePayer({ view, chains, getApi, see, wake }: Parts) {
  const [step, dispatch] = useReducer(nextStep, START);
  const [rejected, setRejected] = useState(false);
  const isOpen = view.status === "requires_action";
  const { finder, wallets } = useWallets(view.sandbox, getApi, isOpen);
  const now = useRef<Step>(step);
  now.current = step;
  const openNow = useRef(isOpen);
  openNow.current = isOpen;
  const payer = useRef<Promise<Payer> | null>(null);
  const { id } = view;
  useArrivals({ view, getApi, see }, step);

  const getPayer = useCallback(() => {
    const parts = () => Promise.all([import("./payer.ts"), import("./tab-lock.ts")]);
    payer.current ??= Promise.all([getApi(), loadCode(parts)]).then(
      ([api, [{ Payer }, { createTabLock }]]) => {
        const lock = createTabLock(id, () => dispatch({ type: "other_tab", busy: false }));
        const around = { id, api, finder: () => finder.current, chains, lock, see, wake };
        return new Payer({
          ...around,
          dispatch,
          step: () => now.current,
          isOpen: () => openNow.current,
        });
      },
    );
    return payer.current;
  }, [id, chains, getApi, see, wake, finder]);

  // Handed in by the tab that sent it, or seen too late by the payment that had closed.
  const mayBeMissing = isOpen || tookNothing(view.stage);
  useEffect(() => {
    if (mayBeMissing && tabMemory.read(sentKey(id)) !== null)
      void getPayer().then((one) => one.resume());
  }, [mayBeMissing, id, getPayer]);

  const act = useCallback(
    (action: PageAction) => {
      if (action.do === "details_rejected") return setRejected(true);
      setRejected(false);
      // Its code may take a while to come: a wallet that was pressed says so at once.
      if (action.do === "connect") dispatch({ type: "connect", wallet: action.wallet });
      void getPayer().then((one) => carryOut(one, now.current, action, dispatch));
    },
    [getPayer],
  );
  const refresh = useCallback(() => void getPayer().then((one) => one.find()), [getPayer]);
  const payable = useMemo(
    () => (wallets === null ? null : payingWallets(wallets, chains)),
    [wallets, chains],
  );
  return { step, rejected, wallets: payable, act, refresh };
}

type Dispatch = (event: Parameters<typeof nextStep>[1]) => void;

function startPaying(payer: Payer, step: Step, dispatch: Dispatch): void {
  const option =
    step.at === "choosing"
      ? step.found.options.find(({ id }) => id === step.chosen)
      : "option" in step
        ? step.option
        : undefined;
  if (option === undefined) return;
  dispatch({ type: "pay", option });
  if (!option.needsData && !needsApproval(option)) void payer.pay(option);
}

function retry(payer: Payer, step: Step, dispatch: Dispatch): void {
  if (step.at === "connecting") void payer.connect(step.wallet);
  else if (step.at === "finding" || step.at === "choosing") {
    dispatch({ type: "find" });
    void payer.find();
  } else if (step.at === "refused" && !step.found.options.some(({ id }) => id === step.option.id)) {
    dispatch({ type: "back" });
  } else if (step.at === "refused" && step.index === 0 && isRejection(step.why)) {
    startPaying(payer, step, dispatch);
  } else if (step.at === "asking" || step.at === "refused") {
    dispatch({ type: "ask", index: step.index, ask: askOf(step), ...NOT_YET });
    void payer.pay(step.option);
  }
}

/** Its calls are fetched first, and the network of the wallet is looked at. */
const NOT_YET = { switching: false, shown: false } as const;

const askOf = (step: Extract<Step, { at: "asking" | "refused" }>) => ({
  kind: step.option.steps[step.index]?.kind ?? ("sign" as const),
  to: null,
});

/** What a click does where the buyer stands; a promise where the wallet or the server has the word. */
function carryOut(payer: Payer, step: Step, action: PageAction, dispatch: Dispatch): unknown {
  switch (action.do) {
    case "connect":
      return payer.connect(action.wallet);
    case "other_wallet":
      return payer.leave();
    case "pick":
      return dispatch({ type: "pick", optionId: action.optionId });
    case "pay":
    case "accept":
      return startPaying(payer, step, dispatch);
    case "approve":
      return step.at === "approval" ? payer.pay(step.option) : null;
    case "continue":
      return payer.goOn();
    case "back":
      return payer.back();
    case "retry":
      return retry(payer, step, dispatch);
    case "details_given":
      dispatch({ type: "information_given" });
      return step.at === "information" && !needsApproval(step.option)
        ? payer.pay(step.option)
        : null;
    default:
      return null;
  }
}
