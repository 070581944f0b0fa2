import type { ReactNode } from "react";
import { Panel, Sign } from "./panel.tsx";
import type { ScreenProps } from "./screen-props.ts";
import {
  ConnectingScreen,
  FindingScreen,
  NearlyExpiredScreen,
  NoOptionScreen,
  OptionsScreen,
  ReadyScreen,
} from "./screens-choose.tsx";
import {
  CancelledScreen,
  ExpiredPaidScreen,
  ExpiredUnpaidScreen,
  FailedScreen,
  NotPossibleScreen,
  OfflineScreen,
  RefundedScreen,
  SucceededScreen,
  UnknownScreen,
} from "./screens-end.tsx";
import {
  ApprovalScreen,
  ApprovalWaitingScreen,
  InformationScreen,
  InWalletScreen,
  QuoteChangedScreen,
  RefusedScreen,
} from "./screens-pay.tsx";
import {
  ConfirmingScreen,
  OverpaidScreen,
  SlowScreen,
  StillDueScreen,
  SubmittedScreen,
} from "./screens-way.tsx";
import type { Screen, StateName } from "./state.ts";
import type { Words } from "./words.ts";

/** While nothing of the payment is known. */
export function LoadingScreen({ words: { t } }: { words: Words }) {
  return (
    <Panel
      sign={<Sign icon="wait" />}
      title={t("state.loading.title")}
      help={t("state.loading.help")}
    />
  );
}

function ChoiceScreen({ screen, props }: { screen: Screen; props: ScreenProps }) {
  switch (screen.state) {
    case "ready":
      return <ReadyScreen screen={screen} props={props} />;
    case "connecting":
      return <ConnectingScreen screen={screen} props={props} />;
    case "finding":
      return <FindingScreen screen={screen} props={props} />;
    case "options":
      return <OptionsScreen screen={screen} props={props} />;
    case "no_option":
      return <NoOptionScreen screen={screen} props={props} />;
    case "nearly_expired":
      return <NearlyExpiredScreen screen={screen} props={props} />;
    case "information":
    case "information_rejected":
      return <InformationScreen screen={screen} props={props} />;
    case "approval":
      return <ApprovalScreen screen={screen} props={props} />;
    case "approval_waiting":
      return <ApprovalWaitingScreen screen={screen} props={props} />;
    case "in_wallet":
      return <InWalletScreen screen={screen} props={props} />;
    case "refused":
      return <RefusedScreen screen={screen} props={props} />;
    case "quote_changed":
      return <QuoteChangedScreen screen={screen} props={props} />;
    default:
      return <StatusScreen state={screen.state} props={props} />;
  }
}

type Chosen = Extract<Screen, { step: unknown }>["state"];

function StatusScreen({ state, props }: { state: Exclude<StateName, Chosen>; props: ScreenProps }) {
  const Status = STATUS[state];
  return <Status props={props} />;
}

const STATUS: Record<Exclude<StateName, Chosen>, (given: { props: ScreenProps }) => ReactNode> = {
  loading: ({ props }) => <LoadingScreen words={props.words} />,
  submitted: SubmittedScreen,
  confirming: ConfirmingScreen,
  slow: SlowScreen,
  still_due: StillDueScreen,
  overpaid: OverpaidScreen,
  succeeded: SucceededScreen,
  failed: FailedScreen,
  expired_unpaid: ExpiredUnpaidScreen,
  expired_paid: ExpiredPaidScreen,
  cancelled: CancelledScreen,
  not_possible: NotPossibleScreen,
  offline: OfflineScreen,
  refunded: RefundedScreen,
  unknown: ({ props }) => <UnknownScreen words={props.words} />,
};

/** One of the 28 screens; a new one is drawn in afresh and read from its headline. */
export function CheckoutScreen({ screen, props }: { screen: Screen; props: ScreenProps }) {
  return <ChoiceScreen key={screen.state} screen={screen} props={props} />;
}
