import type { WalletInfo } from "#components/wallet/kit.ts";

/** What a buyer can do on the page; whoever shows the screens decides what becomes of it. */
export type PageAction =
  | { do: "connect"; wallet: WalletInfo }
  | { do: "retry" }
  | { do: "other_wallet" }
  | { do: "pick"; optionId: string }
  | { do: "pay" }
  | { do: "approve" }
  | { do: "continue" }
  | { do: "accept" }
  | { do: "back" }
  | { do: "cancel" }
  | { do: "details_given" }
  | { do: "details_rejected" };

export type Act = (action: PageAction) => void;
