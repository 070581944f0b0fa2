import { ArrowLeftRight, FileText, KeyRound, PenLine, TriangleAlert, X } from "lucide-react";
import type { ReactNode } from "react";
import { Button, ButtonLink } from "#components/ui/button.tsx";
import { Money } from "#components/ui/money.tsx";
import { AskList } from "./ask-list.tsx";
import { Corner } from "./corner.tsx";
import type { StepAt } from "./flow.ts";
import { Panel, Sign } from "./panel.tsx";
import type { ScreenOf, ScreenProps } from "./screen-props.ts";
import { WalletMark } from "./wallet-mark.tsx";
import type { WordKey } from "./words.ts";

const BackButton = ({
  words: { t },
  act,
  label = "action.back",
}: ScreenProps & { label?: WordKey }) => (
  <Button kind="quiet" onClick={() => act({ do: "back" })}>
    {t(label)}
  </Button>
);

/** The shop has to know who pays. */
export function InformationScreen({
  screen: { state, step },
  props,
}: {
  screen: ScreenOf<"information" | "information_rejected">;
  props: ScreenProps;
}) {
  const { t, money } = props.words;
  const rejected = state === "information_rejected";
  return (
    <Panel
      sign={<Sign icon={FileText} tone={rejected ? "warn" : "plain"} />}
      corner={<Corner props={props} />}
      title={t(`state.${state}.title`)}
      help={t(`state.${state}.help`, {
        merchant: props.view.merchant.name,
        money: money(step.option.money),
      })}
      others={<BackButton {...props} />}
    >
      {props.form}
    </Panel>
  );
}

/** The token has to be told first that it may be taken. */
export function ApprovalScreen({
  screen: { step },
  props,
}: {
  screen: ScreenOf<"approval">;
  props: ScreenProps;
}) {
  const { t, amount } = props.words;
  const approve = step.option.steps.find((one) => one.kind === "approve");
  const limit = approve?.kind === "approve" ? amount(approve.amount) : amount(step.option.money);
  const wallet = step.wallet.name;
  return (
    <Panel
      sign={<Sign icon={KeyRound} />}
      corner={<Corner props={props} wallet={step.wallet} />}
      title={t("state.approval.title", { total: step.option.steps.length })}
      help={t("state.approval.help", { limit })}
      main={
        <Button data-main wide onClick={() => props.act({ do: "approve" })}>
          {t("action.approve", { wallet })}
        </Button>
      }
      others={<BackButton {...props} />}
    />
  );
}

/** The permission is on its way. */
export function ApprovalWaitingScreen({
  screen: { step },
  props,
}: {
  screen: ScreenOf<"approval_waiting">;
  props: ScreenProps;
}) {
  const { t } = props.words;
  const total = step.option.steps.length;
  const [done, next] = [step.index + 1, step.index + 2];
  const goOn = (kind: "primary" | "quiet", isMain: boolean) => (
    <Button
      kind={kind}
      wide={kind === "primary"}
      data-main={isMain || undefined}
      onClick={() => props.act({ do: "continue" })}
    >
      {t("action.nextStep", { step: next })}
    </Button>
  );
  const link = step.txUrl;
  return (
    <Panel
      sign={<Sign icon="wait" />}
      corner={<Corner props={props} wallet={step.wallet} />}
      title={t("state.approval_waiting.title", { step: done, total })}
      help={t("state.approval_waiting.help", { wallet: step.wallet.name })}
      main={goOn("primary", link === null)}
      others={
        link !== null && (
          <ButtonLink kind="quiet" href={link} target="_blank" rel="noreferrer" data-main>
            {t("action.viewTransaction")}
          </ButtonLink>
        )
      }
    />
  );
}

type AskTexts = { title: WordKey; help: WordKey };

const ASK_TEXTS: Record<StepAt<"asking">["ask"]["kind"], AskTexts> = {
  approve: { title: "state.in_wallet.approveTitle", help: "state.in_wallet.approve" },
  reset_allowance: { title: "state.in_wallet.resetTitle", help: "state.in_wallet.reset" },
  prove: { title: "state.in_wallet.proveTitle", help: "state.in_wallet.prove" },
  sign: { title: "state.in_wallet.title", help: "state.in_wallet.help" },
  send: { title: "state.in_wallet.title", help: "state.in_wallet.help" },
};
const SWITCH: AskTexts = { title: "state.in_wallet.switchTitle", help: "state.in_wallet.switch" };

/** The network would not have taken the last signature in time. */
const AGAIN: WordKey = "state.in_wallet.again";

function Asking({ step, props }: { step: StepAt<"asking">; props: ScreenProps }) {
  const { t } = props.words;
  const wallet = step.wallet.name;
  const usual = step.switching ? SWITCH : ASK_TEXTS[step.ask.kind];
  const texts = step.again && !step.switching ? { ...usual, help: AGAIN } : usual;
  // Asked twice, a wallet might send the money twice; a signature given twice is one payment.
  const mayAskAgain = step.switching || step.ask.kind !== "send";
  return (
    <Panel
      sign={<Sign icon={step.switching ? ArrowLeftRight : PenLine} />}
      corner={<Corner props={props} wallet={step.wallet} />}
      title={t(texts.title, { wallet })}
      help={t(texts.help, { wallet, network: step.option.money.network })}
      main={
        mayAskAgain ? (
          <Button kind="secondary" data-main wide onClick={() => props.act({ do: "retry" })}>
            {t("action.openWallet", { wallet })}
          </Button>
        ) : undefined
      }
      others={mayAskAgain ? <BackButton {...props} /> : undefined}
    >
      {!step.switching && <AskList ask={step.ask} paying={step} props={props} />}
    </Panel>
  );
}

/** The wallet has the word; or what it gave is on its way; or it gave no clear answer. */
export function InWalletScreen({
  screen: { step },
  props,
}: {
  screen: ScreenOf<"in_wallet">;
  props: ScreenProps;
}) {
  const { t } = props.words;
  const wallet = step.wallet.name;
  if (step.at === "asking") return <Asking step={step} props={props} />;
  if (step.at === "handing_in")
    return (
      <Panel
        sign={<Sign icon="wait" />}
        title={t("state.in_wallet.handingInTitle")}
        help={t("state.in_wallet.handingIn")}
      />
    );
  return (
    <Panel
      sign={<Sign icon={TriangleAlert} tone="warn" />}
      corner={<WalletMark wallet={step.wallet} className="size-11" />}
      title={t("state.in_wallet.unsureTitle", { wallet })}
      help={t("state.in_wallet.unsure", { wallet })}
      main={
        <Button kind="secondary" data-main wide onClick={() => props.act({ do: "back" })}>
          {t("state.in_wallet.unsureRetry")}
        </Button>
      }
    />
  );
}

function refusalTexts({ why, switching }: StepAt<"refused">): AskTexts {
  if (why === "busy") return { title: "state.refused.busyTitle", help: "state.refused.busy" };
  if (why === "signature")
    return { title: "state.refused.signatureTitle", help: "state.refused.signature" };
  if (why === "lapsed") return { title: "state.refused.lapsedTitle", help: "state.refused.lapsed" };
  if (why === "server") return { title: "state.refused.serverTitle", help: "state.refused.server" };
  if (why === "gone" || why === "unknown")
    return { title: "state.refused.goneTitle", help: "state.refused.gone" };
  if (switching || why === "wrong_chain" || why === "unsupported_chain")
    return { title: "state.refused.chainTitle", help: "state.refused.chain" };
  return { title: "state.refused.title", help: "state.refused.help" };
}

/** Nothing was asked, given or taken; no failure, and nothing was charged. */
export function RefusedScreen({
  screen: { step },
  props,
}: {
  screen: ScreenOf<"refused">;
  props: ScreenProps;
}) {
  const { t } = props.words;
  const { title, help } = refusalTexts(step);
  const values = { wallet: step.wallet.name, network: step.option.money.network };
  return (
    <Panel
      sign={<Sign icon={X} />}
      corner={<Corner props={props} wallet={step.wallet} />}
      title={t(title, values)}
      help={t(help, values)}
      main={
        <Button data-main wide onClick={() => props.act({ do: "retry" })}>
          {t("action.retry")}
        </Button>
      }
      others={
        <>
          <BackButton {...props} label="action.otherWay" />
          {step.why === "signature" && (
            <Button kind="quiet" onClick={() => props.act({ do: "other_wallet" })}>
              {t("action.otherWallet")}
            </Button>
          )}
        </>
      }
    />
  );
}

function Amounts({ rows }: { rows: [string, ReactNode, boolean][] }) {
  return (
    <dl className="grid gap-1.5 rounded-control bg-soft px-4 py-3">
      {rows.map(([name, value, isNew]) => (
        <div
          key={name}
          className="wrap-anywhere flex flex-wrap items-baseline justify-between gap-x-6"
        >
          <dt className="text-quiet text-sm">{name}</dt>
          <dd className={isNew ? "font-semibold text-lg" : "text-quiet line-through"}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The amount is another one than the buyer looked at. */
export function QuoteChangedScreen({
  screen: { step },
  props,
}: {
  screen: ScreenOf<"quote_changed">;
  props: ScreenProps;
}) {
  const { t, amount, money } = props.words;
  return (
    <Panel
      sign={<Sign icon={ArrowLeftRight} tone="warn" />}
      corner={<Corner props={props} />}
      title={t("state.quote_changed.title")}
      help={t("state.quote_changed.help")}
      main={
        <Button data-main wide onClick={() => props.act({ do: "accept" })}>
          {t("action.accept", { amount: amount(step.option.money) })}
        </Button>
      }
      others={<BackButton {...props} label="action.otherWay" />}
    >
      <Amounts
        rows={[
          [t("quote.old"), <Money key="old">{money(step.was)}</Money>, false],
          [t("quote.new"), <Money key="new">{money(step.option.money)}</Money>, true],
        ]}
      />
    </Panel>
  );
}
