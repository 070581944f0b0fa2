import { FileText } from "lucide-react";
import { Disclosure } from "#components/ui/disclosure.tsx";
import { Money } from "#components/ui/money.tsx";
import type { CheckoutOption, UnavailableOption } from "#server/contract/checkout.ts";
import type { StepAt } from "./flow.ts";
import { addressOf, shortAddress } from "./links.ts";
import type { ScreenProps } from "./screen-props.ts";
import { TokenMark } from "./token-mark.tsx";
import type { Words } from "./words.ts";

/** Decoration; where letters are so large that an amount would be torn, it gives them its room. */
const MARK = "size-9 @max-[12rem]:hidden";

/** Who pays what beside the amount. */
function costOf({ t }: Words, option: CheckoutOption): string {
  if (option.networkFee === "buyer") return t("options.fee");
  const asks = option.steps.some(({ kind }) => kind === "approve" || kind === "reset_allowance");
  return asks ? t("options.approvalFee") : t("options.noFee");
}

function OptionRow({
  option,
  chosen,
  several,
  props: { words, act, nowMs },
}: {
  option: CheckoutOption;
  chosen: boolean;
  /** Whether more than one account is offered. */
  several: boolean;
  props: ScreenProps;
}) {
  const { t, span } = words;
  const { money } = option;
  return (
    <label className="flex cursor-pointer items-start gap-3.5 rounded-control border border-edge bg-card px-4 py-3.5 has-checked:border-accent-text has-checked:bg-soft has-checked:ring-1 has-checked:ring-accent-text has-focus-visible:outline-3 has-focus-visible:outline-focus has-focus-visible:outline-offset-2">
      <TokenMark symbol={money.symbol} iconUrl={money.iconUrl} className={MARK} />
      <span className="grid min-w-0 flex-1 gap-0.5">
        <Money className="wrap-anywhere font-medium">{words.money(money)}</Money>
        <span className="text-quiet text-sm">
          {t("options.eta", { time: span(option.etaS) })}
          {" · "}
          {costOf(words, option)}
        </span>
        {option.expiresAt !== null && (
          <span className="text-quiet text-sm">
            {t("options.until", { time: span(option.expiresAt - nowMs / 1000) })}
          </span>
        )}
        {several && (
          <span className="text-quiet text-sm">
            {t("options.account", {
              account: `\u2068${shortAddress(addressOf(option.account))}\u2069`,
            })}
          </span>
        )}
        {option.needsData && (
          <span className="mt-1 inline-flex items-center gap-1.5 font-medium text-sm text-warn">
            <FileText aria-hidden="true" className="size-4" />
            {t("options.needsData")}
          </span>
        )}
      </span>
      <input
        type="radio"
        name="option"
        value={option.id}
        checked={chosen}
        onChange={() => act({ do: "pick", optionId: option.id })}
        className="mt-0.5 size-5 shrink-0 accent-accent outline-none"
      />
    </label>
  );
}

function reasonOf({ t, amount }: Words, one: UnavailableOption, merchant: string): string {
  if (one.reason !== "short") return t(`options.reason.${one.reason}`, { merchant });
  const parts = [
    one.short === null ? null : t("options.short", { short: amount(one.short) }),
    one.holds === null ? null : t("options.holds", { holds: amount(one.holds) }),
  ];
  return parts.filter((part) => part !== null).join(", ");
}

/** What cannot be used, with the reason; it comes last and is never a way to pay. */
export function Unavailable({
  list,
  props: { words, view },
}: {
  list: readonly UnavailableOption[];
  props: ScreenProps;
}) {
  const { t } = words;
  const nameOf = ({ symbol, network }: UnavailableOption) =>
    symbol === null ? network : t("page.money", { amount: symbol, network });
  return (
    <ul className="@container grid grid-cols-1 gap-1">
      {list.map((one) => (
        <li
          key={`${one.account} ${one.chain} ${one.money?.asset ?? one.symbol}`}
          className="flex items-center gap-3.5 rounded-control px-4 py-2.5"
        >
          <TokenMark
            symbol={one.money?.symbol ?? one.symbol ?? one.network}
            iconUrl={one.money?.iconUrl ?? null}
            className={`${MARK} opacity-70 grayscale`}
          />
          <span className="wrap-anywhere grid min-w-0 flex-1">
            <span>
              {one.money === null ? nameOf(one) : <Money>{words.money(one.money)}</Money>}
            </span>
            <span className="text-quiet text-sm">{reasonOf(words, one, view.merchant.name)}</span>
          </span>
        </li>
      ))}
    </ul>
  );
}

/** More than these are folded away, so that the button to pay stays in sight. */
const SHOWN = 4;

/** The ways to pay: what works as a choice, the rest folded beneath it. */
export function OptionsList({ step, props }: { step: StepAt<"choosing">; props: ScreenProps }) {
  const { t } = props.words;
  const { options, unavailable } = step.found;
  const several = new Set(options.map(({ account }) => addressOf(account))).size > 1;
  const rowOf = (option: CheckoutOption) => (
    <OptionRow
      key={option.id}
      option={option}
      chosen={option.id === step.chosen}
      several={several}
      props={props}
    />
  );
  return (
    <>
      <div
        role="radiogroup"
        aria-label={t("options.list")}
        className="@container grid grid-cols-1 gap-2"
      >
        {options.slice(0, SHOWN).map(rowOf)}
        {options.length > SHOWN && (
          <Disclosure title={t("options.more")}>
            <div className="grid grid-cols-1 gap-2">{options.slice(SHOWN).map(rowOf)}</div>
          </Disclosure>
        )}
      </div>
      {unavailable.length > 0 && (
        <Disclosure title={t("options.unavailable")}>
          <Unavailable list={unavailable} props={props} />
        </Disclosure>
      )}
    </>
  );
}
