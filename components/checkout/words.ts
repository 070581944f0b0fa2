import type en from "#components/messages/en.json";
import { formatAmount, formatMoney, formatPrice } from "#components/ui/money.tsx";
import type { CheckoutView, ShownAmount, ShownMoney } from "#server/contract/checkout.ts";

type Leaves<T> = {
  [K in keyof T & string]: T[K] extends string ? K : `${K}.${Leaves<T[K]>}`;
}[keyof T & string];

/** A text of the checkout: a wrong one is a type error. */
export type WordKey = Leaves<typeof en>;
export type Values = Record<string, string | number>;

/** Speaks the language of the page: texts, and amounts and times as it writes them. */
export type Words = {
  /** A locale, with the digits to use. */
  language: string;
  t(key: WordKey, values?: Values): string;
  amount(amount: ShownAmount): string;
  /** Token and network together. */
  money(money: ShownMoney): string;
  price(price: CheckoutView["amount"]): string;
  /** In the largest unit that says enough, rounded up. */
  span(seconds: number): string;
  /** A moment in Unix seconds, in UTC: the same on the server, in every browser and on paper. */
  moment(unixS: number): string;
};

const HOUR = 3600;

function spanOf(t: Words["t"], seconds: number): string {
  if (seconds > 2 * HOUR) return t("page.hours", { count: Math.ceil(seconds / HOUR) });
  if (seconds >= 60) return t("page.minutes", { count: Math.ceil(seconds / 60) });
  return t("page.seconds", { count: Math.max(0, Math.ceil(seconds)) });
}

/** Makes the words of a language out of its translator. */
export function wordsOf(language: string, t: Words["t"]): Words {
  const moments = new Intl.DateTimeFormat(language, {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: "UTC",
  });
  return {
    language,
    t,
    amount: (amount) => formatAmount(language, amount),
    money: (money) => formatMoney(language, money, (parts) => t("page.money", parts)),
    price: (price) => formatPrice(language, price),
    span: (seconds) => spanOf(t, seconds),
    moment: (unixS) => `${moments.format(unixS * 1000)} UTC`,
  };
}
