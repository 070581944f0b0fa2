import { Countdown } from "#components/ui/countdown.tsx";
import type { WalletInfo } from "#components/wallet/kit.ts";
import type { ScreenProps } from "./screen-props.ts";
import { inLastQuarter, secondsLeft } from "./state.ts";
import { WalletMark } from "./wallet-mark.tsx";

/** The corner of a screen on which the payment is still open: the wallet in use, and in the last quarter the time that is left. */
export function Corner({
  props: { view, nowMs },
  wallet,
}: {
  props: ScreenProps;
  wallet?: WalletInfo;
}) {
  return (
    <div className="flex items-center gap-3">
      {inLastQuarter(view, nowMs) && (
        <Countdown seconds={secondsLeft(view, nowMs)} className="font-semibold text-warn text-xl" />
      )}
      {wallet !== undefined && <WalletMark wallet={wallet} className="size-11" />}
    </div>
  );
}
