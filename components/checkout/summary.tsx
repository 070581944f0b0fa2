import { CopyButton } from "#components/ui/copy-button.tsx";
import { Money } from "#components/ui/money.tsx";
import type { CheckoutView } from "#server/contract/checkout.ts";
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
        className="size-11 rounded-control border border-line bg-white object-cover"
      />
    );
  return (
    <span
      aria-hidden="true"
      className="grid size-11 shrink-0 place-items-center rounded-control bg-accent font-semibold text-accent-ink text-lg"
    >
      {[...merchant.name.trim()][0]?.toUpperCase()}
    </span>
  );
}

/** Whom, how much and for what; it stays in sight in every state. */
export function Summary({ words, view }: { words: Words; view: CheckoutView }) {
  const { t, price } = words;
  const { merchant, amount, description, reference, status } = view;
  return (
    <header className="grid gap-4 lg:gap-8">
      <div className="flex min-w-0 items-center gap-3">
        <MerchantMark merchant={merchant} />
        <p className="min-w-0 truncate font-medium">
          <bdi>{merchant.name}</bdi>
        </p>
      </div>
      <div className="grid gap-1">
        <p className="text-quiet text-sm">{t(status === "succeeded" ? "page.paid" : "page.pay")}</p>
        <p className="text-balance font-semibold text-4xl tracking-tight lg:text-5xl">
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
    </header>
  );
}
