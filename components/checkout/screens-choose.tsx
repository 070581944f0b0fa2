import { Clock, ScanSearch, Unplug, Wallet } from "lucide-react";
import { Button } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { ChooseWallet } from "./choose-wallet.tsx";
import { Corner } from "./corner.tsx";
import type { StepAt } from "./flow.ts";
import { OptionsList, Unavailable } from "./options-list.tsx";
import { Panel, Sign } from "./panel.tsx";
import type { ScreenOf, ScreenProps } from "./screen-props.ts";
import { secondsLeft } from "./state.ts";

function CancelButton({ words: { t }, act }: ScreenProps) {
  return (
    <Button kind="quiet" onClick={() => act({ do: "cancel" })}>
      {t("action.cancel")}
    </Button>
  );
}

function IdleNotice({ step, props }: { step: StepAt<"idle">; props: ScreenProps }) {
  if (step.notice === null) return null;
  const key = step.notice === "other_tab" ? "notice.otherTab" : "notice.walletGone";
  return <Notice tone="warn">{props.words.t(key)}</Notice>;
}

/** Nothing chosen yet. */
export function ReadyScreen({ screen, props }: { screen: ScreenOf<"ready">; props: ScreenProps }) {
  const { t, price } = props.words;
  const { merchant, amount } = props.view;
  return (
    <Panel
      title={t("state.ready.title")}
      help={t("state.ready.help", { merchant: merchant.name, price: price(amount) })}
      others={<CancelButton {...props} />}
    >
      <IdleNotice step={screen.step} props={props} />
      <ChooseWallet {...props} />
    </Panel>
  );
}

/** A wallet was asked for its accounts. */
export function ConnectingScreen({
  screen: { step },
  props,
}: {
  screen: ScreenOf<"connecting">;
  props: ScreenProps;
}) {
  const { t } = props.words;
  const wallet = step.wallet.name;
  const failed = step.failed !== null;
  const why = step.failed === "refused" || step.failed === "busy" ? step.failed : ("gone" as const);
  return (
    <Panel
      sign={failed ? <Sign icon={Unplug} tone="warn" /> : <Sign icon="wait" />}
      corner={<Corner props={props} wallet={step.wallet} />}
      title={t(failed ? "state.connecting.refusedTitle" : "state.connecting.title", { wallet })}
      help={t(failed ? `state.connecting.${why}` : "state.connecting.help", { wallet })}
      main={
        <Button
          kind={failed ? "primary" : "secondary"}
          data-main
          onClick={() => props.act({ do: "retry" })}
        >
          {t("action.retry")}
        </Button>
      }
      others={
        <Button kind="quiet" onClick={() => props.act({ do: "other_wallet" })}>
          {t("action.otherWallet")}
        </Button>
      }
    />
  );
}

/** Balances are being read. */
export function FindingScreen({
  screen: { step },
  props,
}: {
  screen: ScreenOf<"finding">;
  props: ScreenProps;
}) {
  const { t } = props.words;
  const { failed } = step;
  return (
    <Panel
      sign={failed ? <Sign icon={ScanSearch} tone="warn" /> : <Sign icon="wait" />}
      corner={<Corner props={props} wallet={step.wallet} />}
      title={t(failed ? "state.finding.failedTitle" : "state.finding.title")}
      help={t(failed ? "state.finding.failed" : "state.finding.help", {
        wallet: step.wallet.name,
      })}
      main={
        failed ? (
          <Button data-main onClick={() => props.act({ do: "retry" })}>
            {t("action.retry")}
          </Button>
        ) : undefined
      }
      others={
        <Button kind="quiet" onClick={() => props.act({ do: "other_wallet" })}>
          {t("action.otherWallet")}
        </Button>
      }
    />
  );
}

function PayButton({ step, props }: { step: StepAt<"choosing">; props: ScreenProps }) {
  const { t, amount } = props.words;
  const chosen = step.found.options.find(({ id }) => id === step.chosen);
  return (
    <Button data-main wide onClick={() => props.act({ do: "pay" })}>
      {chosen === undefined
        ? t("action.payNow")
        : t("action.pay", { amount: amount(chosen.money) })}
    </Button>
  );
}

const OtherWallet = ({ words: { t }, act }: ScreenProps) => (
  <Button kind="quiet" onClick={() => act({ do: "other_wallet" })}>
    {t("action.otherWallet")}
  </Button>
);

/** At least one way works. */
export function OptionsScreen({
  screen: { step },
  props,
}: {
  screen: ScreenOf<"options">;
  props: ScreenProps;
}) {
  const { t } = props.words;
  return (
    <Panel
      title={t("state.options.title")}
      help={t("state.options.help", { wallet: step.wallet.name })}
      main={<PayButton step={step} props={props} />}
      mainStays
      others={<OtherWallet {...props} />}
    >
      <OptionsList step={step} props={props} />
    </Panel>
  );
}

/** None works; what is missing, way by way. */
export function NoOptionScreen({
  screen: { step },
  props,
}: {
  screen: ScreenOf<"no_option">;
  props: ScreenProps;
}) {
  const { t } = props.words;
  const { unavailable } = step.found;
  const merchant = props.view.merchant.name;
  return (
    <Panel
      sign={<Sign icon={Wallet} tone="warn" />}
      corner={<Corner props={props} wallet={step.wallet} />}
      title={t("state.no_option.title")}
      help={
        unavailable.length > 0
          ? t("state.no_option.help")
          : t("state.no_option.none", { wallet: step.wallet.name, merchant })
      }
      main={
        <Button data-main wide onClick={() => props.act({ do: "other_wallet" })}>
          {t("action.otherAccount")}
        </Button>
      }
      others={
        <Button kind="quiet" onClick={() => props.act({ do: "retry" })}>
          {t("action.checkAgain")}
        </Button>
      }
    >
      {unavailable.length > 0 && <Unavailable list={unavailable} props={props} />}
    </Panel>
  );
}

/** The last quarter: the same choices, with the time in the headline. */
export function NearlyExpiredScreen({
  screen: { step },
  props,
}: {
  screen: ScreenOf<"nearly_expired">;
  props: ScreenProps;
}) {
  const { t, span } = props.words;
  const left = secondsLeft(props.view, props.nowMs);
  return (
    <Panel
      sign={<Sign icon={Clock} tone="warn" />}
      corner={<Corner props={props} />}
      title={t("state.nearly_expired.title", { time: span(left) })}
      help={t("state.nearly_expired.help")}
      main={step.at === "choosing" ? <PayButton step={step} props={props} /> : undefined}
      mainStays
      others={step.at === "choosing" ? <OtherWallet {...props} /> : <CancelButton {...props} />}
    >
      {step.at === "choosing" ? (
        <OptionsList step={step} props={props} />
      ) : (
        <>
          <IdleNotice step={step} props={props} />
          <ChooseWallet {...props} />
        </>
      )}
    </Panel>
  );
}
