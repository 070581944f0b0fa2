import { Ban, Check, CircleAlert, CloudOff, Hourglass, Link2Off, Undo2, X } from "lucide-react";
import { Button } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";
import type { CheckoutView } from "#server/contract/checkout.ts";
import { KeepLink } from "./keep-link.tsx";
import { addressOf, shortAddress } from "./links.ts";
import { Panel, Sign } from "./panel.tsx";
import { ReturnToShop } from "./return-to-shop.tsx";
import type { ScreenProps } from "./screen-props.ts";
import { lastOf, Strays, ViewTransaction } from "./screens-way.tsx";
import { Timeline } from "./timeline.tsx";
import type { WordKey } from "./words.ts";

const PrintButton = ({ words: { t }, isMain = false }: ScreenProps & { isMain?: boolean }) => (
  <Button
    kind={isMain ? "secondary" : "quiet"}
    wide={isMain}
    data-main={isMain || undefined}
    onClick={() => window.print()}
  >
    {t("action.print")}
  </Button>
);

/** Final and paid. */
export function SucceededScreen({ props }: { props: ScreenProps }) {
  const { t, money, price } = props.words;
  const { merchant, paid, amount, redirect } = props.view;
  const hasShop = redirect !== null;
  return (
    <Panel
      sign={<Sign icon={Check} tone="good" />}
      title={t("state.succeeded.title")}
      help={t("state.succeeded.help", {
        merchant: merchant.name,
        money: paid === null ? price(amount) : money(paid.money),
      })}
      main={
        hasShop ? (
          <div className="grid">
            <ReturnToShop props={props} to="success" />
          </div>
        ) : (
          <PrintButton {...props} isMain />
        )
      }
      others={
        <>
          {hasShop && <PrintButton {...props} />}
          <ViewTransaction tx={paid?.tx ?? null} props={props} />
        </>
      }
    >
      <Timeline words={props.words} now="done" />
      <Strays props={props} />
    </Panel>
  );
}

const FAILED: Record<string, WordKey> = {
  declined_user: "state.failed.declined_user",
  authorization_expired: "state.failed.authorization_expired",
  broadcast_failed: "state.failed.broadcast_failed",
};

/** The payment is closed, and a wallet could still send its money. */
function StillAsks({ props: { words, openEnd } }: { props: ScreenProps }) {
  if (openEnd?.isAsked !== true) return null;
  return <Notice tone="warn">{words.t("notice.stillAsks", { wallet: openEnd.wallet })}</Notice>;
}

/** Nobody is told that nothing was charged while a wallet may have sent. */
const helpOf = ({ words, openEnd }: ScreenProps, usual: string): string =>
  openEnd?.isAsked === false ? words.t("notice.maySent", { wallet: openEnd.wallet }) : usual;

/** Final, and no money was taken. */
export function FailedScreen({ props }: { props: ScreenProps }) {
  const { t } = props.words;
  return (
    <Panel
      sign={<Sign icon={X} tone="bad" />}
      title={t("state.failed.title")}
      help={helpOf(props, t(FAILED[props.view.failureCode ?? ""] ?? "state.failed.help"))}
      main={<ReturnToShop props={props} to="error" label="action.newPayment" />}
    >
      <StillAsks props={props} />
      <Strays props={props} />
    </Panel>
  );
}

/** The window is over and nothing came. */
export function ExpiredUnpaidScreen({ props }: { props: ScreenProps }) {
  const { t, span } = props.words;
  const { merchant, createdAt, expiresAt } = props.view;
  return (
    <Panel
      sign={<Sign icon={Hourglass} />}
      title={t("state.expired_unpaid.title")}
      help={helpOf(props, t("state.expired_unpaid.help", { merchant: merchant.name }))}
      main={<ReturnToShop props={props} to="error" label="action.newPayment" />}
    >
      <StillAsks props={props} />
      <p className="text-quiet text-sm">
        {t("state.expired_unpaid.lasted", { time: span(expiresAt - createdAt) })}
      </p>
    </Panel>
  );
}

/** The window is over, and then money came. */
export function ExpiredPaidScreen({ props }: { props: ScreenProps }) {
  const { t, money, price } = props.words;
  const { view, sent } = props;
  const late = lastOf(view, "late", "short", "over", "double", "wrong_token", "other");
  const moved = late?.received ?? sent ?? view.paid?.money ?? null;
  const received = moved === null ? price(view.amount) : money(moved);
  return (
    <Panel
      sign={<Sign icon={CircleAlert} tone="warn" />}
      title={t("state.expired_paid.title")}
      help={t(late === null ? "state.expired_paid.sent" : "state.expired_paid.help", {
        received,
        merchant: view.merchant.name,
      })}
      main={<KeepLink props={props} />}
      others={<ViewTransaction tx={late?.tx ?? null} props={props} />}
    />
  );
}

/** Somebody ended it. */
export function CancelledScreen({ props }: { props: ScreenProps }) {
  const { t } = props.words;
  const { cancelledBy, merchant } = props.view;
  return (
    <Panel
      sign={<Sign icon={Ban} />}
      title={t("state.cancelled.title", { by: cancelledBy ?? "other", merchant: merchant.name })}
      help={helpOf(props, t("state.cancelled.help"))}
      main={<ReturnToShop props={props} to="error" />}
    >
      <StillAsks props={props} />
      <Strays props={props} />
    </Panel>
  );
}

/** Not here and not now; no reason, and no blame. */
export function NotPossibleScreen({ props }: { props: ScreenProps }) {
  const { t } = props.words;
  return (
    <Panel
      sign={<Sign icon={Ban} />}
      title={t("state.not_possible.title")}
      help={t("state.not_possible.help", { merchant: props.view.merchant.name })}
      main={<ReturnToShop props={props} to="error" />}
    />
  );
}

/** No connection. */
export function OfflineScreen({ props }: { props: ScreenProps }) {
  const { t } = props.words;
  return (
    <Panel
      sign={<Sign icon={CloudOff} tone="warn" />}
      title={t("state.offline.title")}
      help={t("state.offline.help")}
      main={
        <Button kind="secondary" wide data-main onClick={() => props.act({ do: "retry" })}>
          {t("action.retry")}
        </Button>
      }
    />
  );
}

const returned = (view: CheckoutView) => view.refunds.filter(({ state }) => state === "succeeded");

/** After a success, money went back. */
export function RefundedScreen({ props }: { props: ScreenProps }) {
  const { t, money, price, moment } = props.words;
  const { view } = props;
  const last = returned(view).at(-1);
  const sent = returned(view).reduce((sum, one) => sum + BigInt(one.money.value), 0n);
  const isPart = view.paid !== null && sent < BigInt(view.paid.money.value);
  return (
    <Panel
      sign={<Sign icon={Undo2} tone="good" />}
      title={t("state.refunded.title", { merchant: view.merchant.name })}
      help={t(isPart ? "state.refunded.part" : "state.refunded.help", {
        merchant: view.merchant.name,
        money: last === undefined ? price(view.amount) : money(last.money),
        account: last === undefined ? "" : `\u2066${shortAddress(addressOf(last.to))}\u2069`,
        date: moment(last?.at ?? view.createdAt),
      })}
      main={<PrintButton {...props} isMain />}
      others={<ViewTransaction tx={last?.tx ?? null} props={props} />}
    />
  );
}

/** A link that leads to no payment; there is nothing else to show. */
export function UnknownScreen({ words: { t } }: Pick<ScreenProps, "words">) {
  return (
    <Panel
      sign={<Sign icon={Link2Off} />}
      title={t("state.unknown.title")}
      help={t("state.unknown.help")}
    />
  );
}
