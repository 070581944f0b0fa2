import { CopyButton } from "#components/ui/copy-button.tsx";
import { Money } from "#components/ui/money.tsx";
import { Notice } from "#components/ui/notice.tsx";
import type { CheckoutView } from "#server/contract/checkout.ts";
import { AMOUNT_LABELS, type Phase } from "./phase.ts";
import type { Words } from "./words.ts";

function MerchantMark({ merchant }: { merchant: CheckoutView["merchant"] }) {
  if (merchant.iconUrl !== null)
    return (
      // biome-ignore lint/performance/noImgElement: one small picture, served by us as it is
      <img
        src={merchant.iconUrl}
        alt=""
        width={44}
        height={44}
        className="size-11 shrink-0 rounded-control border border-line bg-white object-cover"
      />
    );
  return (
    <span
      aria-hidden="true"
      className="grid size-11 shrink-0 place-items-center rounded-control bg-accent font-semibold text-[18px] text-accent-ink"
    >
      {[...merchant.name.trim()][0]?.toUpperCase()}
    </span>
  );
}

/** Where no script runs, the page is a status page: it says how to pay, and how to see what has changed. */
function NoScript({ words: { t }, view }: { words: Words; view: CheckoutView }) {
  if (view.isFinal) return null;
  const isOpen = view.status === "requires_action";
  return (
    <noscript>
      <Notice tone="warn">{t(isOpen ? "page.noScript" : "page.noScriptStatus")}</Notice>
    </noscript>
  );
}

/** Whom, how much and for what; it stays in sight in every state, and says what the amount is in this one. */
export function Summary({
  words,
  view,
  phase,
}: {
  words: Words;
  view: CheckoutView;
  phase: Phase;
}) {
  const { t, price } = words;
  const { merchant, amount, description, reference } = view;
  return (
    <header className="grid grid-cols-1 gap-4 lg:gap-8">
      <div className="flex min-w-0 items-center gap-3">
        <MerchantMark merchant={merchant} />
        <p className="wrap-anywhere line-clamp-3 min-w-0 font-medium">
          <bdi>{merchant.name}</bdi>
        </p>
      </div>
      <div className="grid grid-cols-1 gap-1">
        <p className="text-quiet text-sm">{t(AMOUNT_LABELS[phase])}</p>
        <p className="wrap-anywhere text-balance font-semibold text-4xl tracking-tight lg:text-5xl">
          <Money>{price(amount)}</Money>
        </p>
        {description !== null && (
          <p className="mt-1 text-pretty wrap-anywhere">
            <bdi>{description}</bdi>
          </p>
        )}
        <p className="flex items-center gap-1 text-quiet text-sm">
          <span className="min-w-0 wrap-anywhere">
            {t("facts.reference")} <bdi className="digits text-ink">{reference}</bdi>
          </span>
          <CopyButton text={reference} label={t("copy.reference")} copied={t("copy.done")} />
        </p>
      </div>
      <NoScript words={words} view={view} />
    </header>
  );
}
