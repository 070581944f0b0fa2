import { Money } from "#components/ui/money.tsx";
import type { Ask, Paying } from "./flow.ts";
import type { ScreenProps } from "./screen-props.ts";

function feeOf(ask: Ask["kind"], { words: { t }, view }: ScreenProps, wallet: string): string {
  if (ask === "sign") return t("ask.feeShop", { merchant: view.merchant.name });
  return ask === "prove" ? t("ask.nothing") : t("ask.feeBuyer", { wallet });
}

/** Whole, in two halves where one line is too short; its two ends are what a person compares first and what a wallet shows of it. */
function Address({ whole }: { whole: string }) {
  const half = Math.ceil(whole.length / 2);
  return (
    <span className="code-line font-mono text-quiet text-xs">
      <span className="inline-block">
        <b className="font-semibold text-ink">{whole.slice(0, 6)}</b>
        {whole.slice(6, half)}
      </span>
      <span className="inline-block">
        {whole.slice(half, -4)}
        <b className="font-semibold text-ink">{whole.slice(-4)}</b>
      </span>
    </span>
  );
}

const ROW = "flex flex-wrap items-baseline justify-between gap-x-6";

/** Line by line what the buyer agrees to, so that a wrong request is seen before it is signed; beneath it, who pays the network. */
export function AskList({
  ask,
  paying: { option, wallet, index },
  props,
}: {
  ask: Ask;
  paying: Paying;
  props: ScreenProps;
}) {
  const { t, amount } = props.words;
  const step = option.steps[index];
  const isApproval = ask.kind === "approve" || ask.kind === "reset_allowance";
  const limit = step?.kind === "approve" ? amount(step.amount) : null;
  const shown = isApproval ? limit : amount(option.money);
  const facts: [string, string][] = [];
  if (shown !== null && ask.kind !== "prove")
    facts.push([t(isApproval ? "ask.limit" : "ask.amount"), shown]);
  facts.push([t("ask.network"), option.money.network]);
  return (
    <div className="grid grid-cols-1 gap-2 text-sm">
      <div className="rounded-control border border-transparent bg-soft px-4 py-3">
        <h2 className="text-quiet">{t("ask.title")}</h2>
        <dl className="mt-2 grid grid-cols-1 gap-1.5">
          {facts.map(([name, value]) => (
            <div key={name} className={ROW}>
              <dt className="text-quiet">{name}</dt>
              <dd className="wrap-anywhere ms-auto min-w-0 text-end font-medium">
                <Money>{value}</Money>
              </dd>
            </div>
          ))}
          {ask.to !== null && (
            <div>
              <dt className="text-quiet">{t(isApproval ? "ask.contract" : "ask.to")}</dt>
              <dd>
                <Address whole={ask.to} />
              </dd>
            </div>
          )}
        </dl>
      </div>
      <p className="wrap-anywhere px-4 text-quiet">
        {t("ask.fee", { fee: feeOf(ask.kind, props, wallet.name) })}
      </p>
    </div>
  );
}
