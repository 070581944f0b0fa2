import { Money } from "#components/ui/money.tsx";
import type { Ask, Paying } from "./flow.ts";
import { shortAddress } from "./links.ts";
import type { ScreenProps } from "./screen-props.ts";

function feeOf(ask: Ask["kind"], { words: { t }, view }: ScreenProps, wallet: string): string {
  if (ask === "sign") return t("ask.feeShop", { merchant: view.merchant.name });
  return ask === "prove" ? t("ask.nothing") : t("ask.feeBuyer", { wallet });
}

/** Line by line what the wallet should show, so that a wrong request is seen before it is signed. */
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
  const facts: [string, string, boolean][] = [];
  if (shown !== null && ask.kind !== "prove")
    facts.push([t(isApproval ? "ask.limit" : "ask.amount"), shown, false]);
  facts.push([t("ask.network"), option.money.network, false]);
  if (ask.to !== null)
    facts.push([t(isApproval ? "ask.contract" : "ask.to"), shortAddress(ask.to), true]);
  facts.push([t("ask.fee"), feeOf(ask.kind, props, wallet.name), false]);
  return (
    <div className="rounded-control bg-soft px-4 py-3">
      <h2 className="text-quiet text-sm">{t("ask.title")}</h2>
      <dl className="mt-2 grid gap-1.5 text-sm">
        {facts.map(([name, value, isCode]) => (
          <div key={name} className="flex items-baseline justify-between gap-6">
            <dt className="shrink-0 text-quiet">{name}</dt>
            <dd className="min-w-0 text-end font-medium">
              {isCode ? (
                <span className="code-line font-mono">{value}</span>
              ) : (
                <Money>{value}</Money>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
