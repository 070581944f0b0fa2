"use client";
import {
  lazy,
  type ReactNode,
  Suspense,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import type { WalletChain } from "#components/wallet/kit.ts";
import type { CheckoutView, ShownMoney } from "#server/contract/checkout.ts";
import type { ApiClient } from "#server/trpc/client.ts";
import type { PageAction } from "./act.ts";
import { isSending, isSent, type Step } from "./flow.ts";
import { loadCode } from "./load-code.ts";
import { phaseOf, titleOf } from "./phase.ts";
import type { OpenEnd } from "./screen-props.ts";
import { Stage } from "./stage.tsx";
import { screenOf, tookNothing } from "./state.ts";
import { tabMemory } from "./tab-memory.ts";
import { useServerClock } from "./use-clock.ts";
import { useLiveView } from "./use-live-view.ts";
import { usePayer } from "./use-payer.ts";
import { useWords } from "./use-words.ts";

const CancelDialog = lazy(async () => ({
  default: (await loadCode(() => import("./cancel-dialog.tsx"))).CancelDialog,
}));
const DetailsForm = lazy(async () => ({
  default: (await loadCode(() => import("./details-form.tsx"))).DetailsForm,
}));

let api: Promise<ApiClient> | null = null;
/** The client of this page's server, fetched after the first paint: nothing on it needs the client. */
function getApi(): Promise<ApiClient> {
  api ??= loadCode(() => import("#server/trpc/client.ts")).then(({ createApiClient }) =>
    createApiClient(),
  );
  return api;
}

/** Seconds after its success in which an opened payment still leads back to the shop by itself; later it is a receipt. */
const FRESH_S = 600;

/** Whether a success that is seen now belongs to this visit. */
function useReturns(initial: CheckoutView): boolean {
  const [returns] = useState(
    () =>
      !initial.isFinal ||
      (initial.paid !== null && initial.serverNow / 1000 - initial.paid.acceptedAt < FRESH_S),
  );
  return returns;
}

/** The id of the wallet chosen for this payment before the page was loaded again. */
function useLastWallet(paymentId: string): string | null {
  const [last, setLast] = useState<string | null>(null);
  useEffect(() => setLast(tabMemory.read(`florin:wallet:${paymentId}`)), [paymentId]);
  return last;
}

/** Keeps the title of the tab with the payment. */
function useTitle(title: string): void {
  useEffect(() => {
    document.title = title;
  }, [title]);
}

/** What a wallet was last asked to send here, once it may have come too late; null: that, or whether, is not known. */
function useSent(step: Step): ShownMoney | null {
  const asked = useRef<ShownMoney | null>(null);
  if ("option" in step) asked.current = step.option.money;
  return isSent(step) ? asked.current : null;
}

/** The wallet that may send to a payment which closed, or may have; null: none. */
function openEndOf(step: Step, view: CheckoutView): OpenEnd | null {
  if (!tookNothing(view.stage) || !("wallet" in step)) return null;
  if (step.at === "unsure") return { wallet: step.wallet.name, isAsked: false };
  return isSending(step) ? { wallet: step.wallet.name, isAsked: true } : null;
}

/** The form for the account that pays, while its details are asked for; false: it is not shown, or its code is not here yet. */
function useDetailsForm(step: Step, view: CheckoutView, act: (action: PageAction) => void) {
  const [client, setClient] = useState<ApiClient | null>(null);
  useEffect(() => {
    // The client is callable, and a state would call it.
    if (step.at === "information") void getApi().then((one) => setClient(() => one));
  }, [step.at]);
  const account = step.at === "information" ? step.option.account : null;
  return useMemo(
    () =>
      account !== null &&
      client !== null && (
        <Suspense>
          <DetailsForm
            api={client}
            paymentId={view.id}
            merchant={view.merchant.name}
            account={account}
            nowMs={view.serverNow}
            act={act}
          />
        </Suspense>
      ),
    [account, client, view.id, view.merchant.name, view.serverNow, act],
  );
}

/** The checkout at work: follows the payment, leads through it, and shows the screen of the moment. */
export function LiveCheckout({
  initial,
  chains,
  link,
  qr,
}: {
  initial: CheckoutView;
  chains: readonly WalletChain[];
  link: string;
  qr: ReactNode;
}) {
  const { view, offline, see, wake } = useLiveView(initial, getApi);
  const isOpen = view.status === "requires_action";
  const nowMs = useServerClock(view.serverNow, isOpen);
  const payer = usePayer({ view, chains, getApi, see, wake });
  const { step, rejected, wallets, refresh } = payer;
  const [asksCancel, setAsksCancel] = useState(false);
  const screen = screenOf({ view, step, offline, rejected, nowMs });
  const lastWallet = useLastWallet(view.id);
  const sent = useSent(step);
  useTitle(titleOf(useWords(), view, phaseOf(view, screen.state)));
  const returns = useReturns(initial);

  const isStale =
    step.at === "choosing" &&
    step.found.options.some(({ expiresAt }) => expiresAt !== null && expiresAt * 1000 <= nowMs);
  useEffect(() => {
    if (isStale) refresh();
  }, [isStale, refresh]);

  const { act: pay } = payer;
  const act = useCallback(
    (action: PageAction) => {
      if (action.do === "cancel") return setAsksCancel(true);
      if (action.do === "retry" && screen.state === "offline") return wake();
      pay(action);
    },
    [pay, wake, screen.state],
  );
  const form = useDetailsForm(step, view, act);
  return (
    <>
      <Stage
        screen={screen}
        qr={qr}
        given={{
          view,
          act,
          nowMs,
          wallets,
          lastWallet,
          link,
          form,
          returns,
          sent,
          openEnd: openEndOf(step, view),
        }}
      />
      {asksCancel && (
        <Suspense>
          <CancelDialog
            merchant={view.merchant.name}
            cancel={async () => (await getApi()).checkout.cancel.mutate({ id: view.id })}
            onDone={(next) => {
              setAsksCancel(false);
              see(next);
            }}
            onClose={() => setAsksCancel(false)}
          />
        </Suspense>
      )}
    </>
  );
}
