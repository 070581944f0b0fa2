import type { ReactNode } from "react";
import type { WalletInfo } from "#components/wallet/kit.ts";
import type { CheckoutView, ShownMoney } from "#server/contract/checkout.ts";
import type { Act } from "./act.ts";
import type { Screen, StateName } from "./state.ts";
import type { Words } from "./words.ts";

/** A wallet, by its name, that still asks to send the money though the payment is closed; or that may have sent it, and does not say. */
export type OpenEnd = { wallet: string; isAsked: boolean };

/** What a screen is drawn from besides its own step. */
export type ScreenProps = {
  words: Words;
  view: CheckoutView;
  act: Act;
  /** Server time in Unix milliseconds. */
  nowMs: number;
  /** Null: still looking. */
  wallets: readonly WalletInfo[] | null;
  /** Id of the wallet this buyer used last for this payment. */
  lastWallet: string | null;
  /** The link to this payment, as a phone opens it. */
  link: string;
  /** The form for the details of the account that pays. */
  form: ReactNode;
  /** What the wallet sent after the payment had closed, and the server has not seen yet; null: nothing. */
  sent: ShownMoney | null;
  openEnd: OpenEnd | null;
  /** Whether it may go back to the shop by itself. */
  returns: boolean;
};

type Matching<T extends Screen, S extends StateName> = T extends Screen
  ? [T["state"] & S] extends [never]
    ? never
    : T
  : never;

/** The screen of the given states. */
export type ScreenOf<S extends StateName> = Matching<Screen, S>;
