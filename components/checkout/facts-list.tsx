import { CopyButton } from "#components/ui/copy-button.tsx";
import { Disclosure } from "#components/ui/disclosure.tsx";
import { Money } from "#components/ui/money.tsx";
import type { CheckoutView, ShownTx } from "#server/contract/checkout.ts";
import { addressOf, shortAddress } from "./links.ts";
import type { WordKey, Words } from "./words.ts";

type Fact = {
  name: string;
  value: string;
  /** What is copied and printed whole; also says that the value is an id and reads from left to right. */
  copy?: { text: string; label: string } | undefined;
  href?: string | null;
};

const TX_WORDS = {
  paid: ["facts.transaction", "copy.transaction"],
  refund: ["facts.refundTransaction", "copy.refundTransaction"],
  arrived: ["facts.otherTransaction", "copy.otherTransaction"],
} as const satisfies Record<string, readonly [name: WordKey, label: WordKey]>;

function txFact({ t }: Words, of: keyof typeof TX_WORDS, { id, url }: ShownTx): Fact {
  const [name, label] = TX_WORDS[of];
  return {
    name: t(name),
    value: shortAddress(id),
    copy: { text: id, label: t(label) },
    href: url,
  };
}

function paidFacts(words: Words, paid: NonNullable<CheckoutView["paid"]>): Fact[] {
  const { t } = words;
  const account = (name: string, label: string, account: string): Fact => ({
    name,
    value: shortAddress(addressOf(account)),
    copy: { text: addressOf(account), label },
  });
  return [
    { name: t("facts.paid"), value: words.money(paid.money) },
    account(t("facts.from"), t("copy.from"), paid.payer),
    account(t("facts.to"), t("copy.to"), paid.recipient),
    ...(paid.tx === null ? [] : [txFact(words, "paid", paid.tx)]),
    ...(paid.receivedAt === null
      ? []
      : [{ name: t("facts.received"), value: words.moment(paid.receivedAt) }]),
  ];
}

function factsOf(words: Words, view: CheckoutView): Fact[] {
  const { t, moment, money, price } = words;
  const { paid, id, createdAt, expiresAt, status } = view;
  return [
    { name: t("facts.amount"), value: price(view.amount) },
    ...(paid?.isSeen ? paidFacts(words, paid) : []),
    ...view.refunds
      .filter(({ state }) => state === "succeeded")
      .flatMap((one) => [
        {
          name: t("facts.refund"),
          value: `\u2068${money(one.money)}\u2069 · \u2068${moment(one.at)}\u2069`,
        },
        ...(one.tx === null ? [] : [txFact(words, "refund", one.tx)]),
      ]),
    ...view.arrivals.flatMap((one) => [
      { name: t("facts.arrived"), value: money(one.received) },
      txFact(words, "arrived", one.tx),
    ]),
    { name: t("facts.paymentId"), value: id, copy: { text: id, label: t("copy.paymentId") } },
    { name: t("facts.created"), value: moment(createdAt) },
    ...(status === "requires_action"
      ? [{ name: t("facts.openUntil"), value: moment(expiresAt) }]
      : []),
  ];
}

/** Short on a screen, where it can be copied; whole on paper. */
function Id({ short, whole }: { short: string; whole: string }) {
  if (short === whole) return whole;
  return (
    <>
      <span className="print:hidden">{short}</span>
      <span className="hidden print:inline">{whole}</span>
    </>
  );
}

function Value({ value, copy, href }: Fact) {
  if (copy === undefined) return <Money className="wrap-anywhere min-w-0 py-1.5">{value}</Money>;
  const id = <Id short={value} whole={copy.text} />;
  if (href == null) return <span className="code-line min-w-0 font-mono print:py-1.5">{id}</span>;
  return (
    <a
      href={href}
      target="_blank"
      rel="noreferrer"
      className="code-line min-w-0 font-mono print:py-1.5 underline underline-offset-4"
    >
      {id}
    </a>
  );
}

/** Everything a buyer may want to keep or to tell the shop; once it is final, it stands open as the receipt. */
export function FactsList({ words, view }: { words: Words; view: CheckoutView }) {
  const { t } = words;
  const isReceipt = view.paid !== null && view.isFinal;
  return (
    <Disclosure
      key={String(isReceipt)}
      title={t(isReceipt ? "facts.receipt" : "facts.title")}
      open={isReceipt}
    >
      <dl className="grid grid-cols-1 text-sm">
        {factsOf(words, view).map((fact, index) => (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: two transactions may share a name
            key={`${fact.name} ${index}`}
            className="flex min-h-11 flex-wrap items-center justify-between gap-x-6 border-line border-t"
          >
            <dt className="wrap-anywhere py-1.5 text-quiet">{fact.name}</dt>
            <dd className="ms-auto flex min-w-0 items-center gap-1 text-end">
              <Value {...fact} />
              {fact.copy && (
                <CopyButton
                  text={fact.copy.text}
                  label={fact.copy.label}
                  copied={t("copy.done")}
                  className="-me-3"
                />
              )}
            </dd>
          </div>
        ))}
      </dl>
    </Disclosure>
  );
}
