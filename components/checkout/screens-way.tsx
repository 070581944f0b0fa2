import { Coins, Hourglass, ShieldCheck } from "lucide-react";
import { ButtonLink } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";
import type { CheckoutView, ShownAmount, ShownTx } from "#server/contract/checkout.ts";
import { formatMinor } from "#server/domain/money/amount.ts";
import { ChooseWallet } from "./choose-wallet.tsx";
import { Corner } from "./corner.tsx";
import { KeepLink } from "./keep-link.tsx";
import { Panel, Sign } from "./panel.tsx";
import { ReturnToShop } from "./return-to-shop.tsx";
import type { ScreenProps } from "./screen-props.ts";
import { secondsLeft } from "./state.ts";
import { Timeline } from "./timeline.tsx";

/** The transaction where an explorer shows it; nothing where none is known. */
export function ViewTransaction({
  tx,
  props,
  isMain = false,
}: {
  tx: ShownTx | null;
  props: ScreenProps;
  isMain?: boolean;
}) {
  if (tx === null || tx.url === null) return null;
  return (
    <ButtonLink
      kind={isMain ? "secondary" : "quiet"}
      wide={isMain}
      href={tx.url}
      target="_blank"
      rel="noreferrer"
      data-main={isMain || undefined}
    >
      {props.words.t("action.viewTransaction")}
    </ButtonLink>
  );
}

/** Handed in: the buyer's part is done. */
export function SubmittedScreen({ props }: { props: ScreenProps }) {
  const { t, money } = props.words;
  const { merchant, paid } = props.view;
  if (paid?.isSeen === false)
    return (
      <Panel
        sign={<Sign icon="wait" />}
        title={t("state.submitted.claimedTitle")}
        help={t("state.submitted.claimed")}
      />
    );
  return (
    <Panel
      sign={<Sign icon={ShieldCheck} tone="good" />}
      title={t("state.submitted.title")}
      help={
        paid === null
          ? t("state.submitted.unknown", { merchant: merchant.name })
          : t("state.submitted.help", { merchant: merchant.name, money: money(paid.money) })
      }
    >
      <Timeline words={props.words} now="submitted" />
    </Panel>
  );
}

/** Seen on the network, not final yet. */
export function ConfirmingScreen({ props }: { props: ScreenProps }) {
  const { t, amount, span } = props.words;
  const { paid } = props.view;
  return (
    <Panel
      sign={<Sign icon="wait" />}
      title={t("state.confirming.title")}
      help={
        paid === null
          ? t("state.slow.unknown")
          : t("state.confirming.help", {
              network: paid.money.network,
              amount: amount(paid.money),
              time: span(paid.etaS),
            })
      }
      main={<ViewTransaction tx={paid?.tx ?? null} props={props} isMain />}
    >
      <Timeline words={props.words} now="confirming" />
    </Panel>
  );
}

/** Past the usual time. */
export function SlowScreen({ props }: { props: ScreenProps }) {
  const { t } = props.words;
  const { paid } = props.view;
  const isSeen = paid?.isSeen === true;
  return (
    <Panel
      sign={<Sign icon={Hourglass} tone="warn" />}
      title={t("state.slow.title")}
      help={
        isSeen ? t("state.slow.help", { network: paid.money.network }) : t("state.slow.unknown")
      }
      main={<KeepLink props={props} />}
      others={<ViewTransaction tx={paid?.tx ?? null} props={props} />}
    >
      {isSeen && <Timeline words={props.words} now="confirming" />}
    </Panel>
  );
}

type Arrival = CheckoutView["arrivals"][number];

/** The last arrival of one of these kinds that the shop has not dealt with. */
export const lastOf = (view: CheckoutView, ...kinds: Arrival["kind"][]): Arrival | null =>
  view.arrivals.findLast(({ kind, resolved }) => !resolved && kinds.includes(kind)) ?? null;

/** By how much a transfer was too small; null: nothing was asked for in this asset. */
function missingOf({ due, received }: Arrival): ShownAmount | null {
  if (due === null) return null;
  const minor = BigInt(due.value) - BigInt(received.value);
  return { ...due, value: minor.toString(), display: formatMinor(minor, due.decimals) };
}

/** A transfer was too small; others may still pay the whole. */
export function StillDueScreen({ props }: { props: ScreenProps }) {
  const { t, amount, money, span, price } = props.words;
  const { view, nowMs } = props;
  const short = lastOf(view, "short");
  const missing = short === null ? null : missingOf(short);
  return (
    <Panel
      sign={<Sign icon={Coins} tone="warn" />}
      corner={<Corner props={props} />}
      title={
        missing === null
          ? t("state.still_due.titleUnknown")
          : t("state.still_due.title", { due: amount(missing) })
      }
      help={t("state.still_due.help", {
        received: short === null ? price(view.amount) : money(short.received),
        merchant: view.merchant.name,
        time: span(secondsLeft(view, nowMs)),
      })}
    >
      <h2 className="font-medium">{t("action.payFull")}</h2>
      <ChooseWallet {...props} />
    </Panel>
  );
}

/** More came than was asked; the payment itself may or may not be complete. */
export function OverpaidScreen({ props }: { props: ScreenProps }) {
  const { t, money, price } = props.words;
  const { view } = props;
  const over = lastOf(view, "over", "double");
  const complete = view.status === "succeeded";
  return (
    <Panel
      sign={<Sign icon={Coins} tone="warn" />}
      title={t("state.overpaid.title")}
      help={t(complete ? "state.overpaid.paid" : "state.overpaid.help", {
        received: over === null ? price(view.amount) : money(over.received),
        merchant: view.merchant.name,
      })}
      main={
        view.redirect === null ? (
          <KeepLink props={props} />
        ) : (
          <ReturnToShop props={{ ...props, returns: false }} to="success" label="action.claim" />
        )
      }
      others={<ViewTransaction tx={over?.tx ?? null} props={props} />}
    />
  );
}

/** Money that is not the payment itself, said beside a state that is about something else. */
export function Strays({ props }: { props: ScreenProps }) {
  const { t, money } = props.words;
  const { arrivals, merchant } = props.view;
  return arrivals
    .filter(({ resolved }) => !resolved)
    .map(({ tx, received }) => (
      <Notice key={tx.id} tone="warn">
        {t("notice.stray", { amount: money(received), merchant: merchant.name })}
      </Notice>
    ));
}
