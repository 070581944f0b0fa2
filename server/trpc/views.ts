import { hash } from "node:crypto";
import type { Container } from "#server/container.ts";
import type { CheckoutView, ShownAmount, ShownMoney, ShownTx } from "#server/contract/checkout.ts";
import { chainOf } from "#server/domain/asset/caip.ts";
import { formatMinor } from "#server/domain/money/amount.ts";
import { currencyOfUnit } from "#server/domain/money/currencies.ts";
import type { ExceptionKind } from "#server/domain/payment/evidence.ts";
import { isFinal } from "#server/domain/payment/transitions.ts";
import type { Brand } from "#server/ports/checkout.ts";
import type { Payment } from "#server/ports/store.ts";
import type { Checkout } from "#server/usecases/read-checkout.ts";

/** What views read of the process: what chains and tokens are called, and where transactions can be looked at. */
export type ViewParts = Pick<Container, "env" | "services">;

/** An amount in plain digits. */
export const shownAmount = (minor: bigint, decimals: number, symbol: string): ShownAmount => ({
  value: minor.toString(),
  decimals,
  display: formatMinor(minor, decimals),
  symbol,
});

/** Pages load pictures from their own server only. */
const ownPicture = (url: string | null): string | null => (url?.startsWith("/") ? url : null);

/** An amount of an asset with its token and network; one that is not registered any more is shown in minor units. */
export function shownMoney({ services }: ViewParts, asset: string, minor: bigint): ShownMoney {
  const chain = services.chains.get(chainOf(asset))?.facts;
  const token = chain?.registered.find((one) => one.asset === asset);
  const network = chain?.name ?? chainOf(asset);
  if (token === undefined)
    return { ...shownAmount(minor, 0, `units of ${asset}`), asset, network, iconUrl: null };
  return {
    ...shownAmount(minor, token.decimals, token.symbol),
    asset,
    network,
    iconUrl: ownPicture(token.iconUrl),
  };
}

/** The picture of a network; null: there is none of ours. */
export const networkIcon = ({ services }: ViewParts, chain: string): string | null =>
  ownPicture(services.chains.get(chain)?.facts.iconUrl ?? null);

/** Where people look at a chain's transactions; null: nowhere. */
export function explorerOf({ env }: ViewParts, chain: string): string | null {
  const entry = [...env.chains, ...env.solana].find((one) => one.entry.caip2 === chain)?.entry;
  return entry?.explorerUrl?.replace(/\/+$/, "") ?? null;
}

function shownTx(parts: ViewParts, chain: string, id: string): ShownTx {
  const explorer = explorerOf(parts, chain);
  return { id, url: explorer === null ? null : `${explorer}/tx/${id}` };
}

/** A payment's price in its own currency. */
export function shownPrice({ unit, minor }: Payment): CheckoutView["amount"] {
  const currency = currencyOfUnit(unit);
  const { symbol, ...amount } = shownAmount(minor, currency?.digits ?? 0, currency?.code ?? unit);
  return { ...amount, currency: symbol };
}

/** A merchant as pages show it; its icon is served by us, under a name that changes with it. */
export const shownMerchant = (
  id: string,
  name: string,
  { accent, iconDigest }: Brand,
): CheckoutView["merchant"] => ({
  name,
  accent,
  iconUrl: iconDigest === null ? null : `/m/${id}/icon?v=${iconDigest.slice(0, 16)}`,
});

const KINDS: Record<ExceptionKind, CheckoutView["arrivals"][number]["kind"]> = {
  late: "late",
  short: "short",
  over: "over",
  double: "double",
  wrong_token: "wrong_token",
  orphaned: "orphaned",
  unattributed: "other",
  unknown_outflow: "other",
};

function arrivalsOf(parts: ViewParts, { facts }: Checkout): CheckoutView["arrivals"] {
  return facts.arrivals.map(({ kind, asset, minor, due, txId, open, at, payer }) => ({
    kind: KINDS[kind],
    received: shownMoney(parts, asset, minor),
    due: due === null ? null : shownMoney(parts, asset, due),
    tx: shownTx(parts, chainOf(asset), txId),
    from: payer,
    at,
    resolved: !open,
  }));
}

function paidOf(parts: ViewParts, { facts, etaS }: Checkout): CheckoutView["paid"] {
  const { paid } = facts;
  if (paid === null) return null;
  const { asset, minor, chain, payer, recipient, txId, receivedAt, acceptedAt, isSeen } = paid;
  return {
    money: shownMoney(parts, asset, minor),
    payer,
    recipient,
    tx: txId === null ? null : shownTx(parts, chain, txId),
    receivedAt,
    etaS: etaS ?? 0,
    acceptedAt,
    isSeen,
  };
}

/** The address of the shop with the payment's id in place of any that was there; nothing else of it changes. */
function backTo(url: string, paymentId: string): string {
  const [address = "", ...fragment] = url.split("#");
  const [page = "", ...query] = address.split("?");
  const others = query
    .join("?")
    .split("&")
    .filter((one) => one !== "" && one !== "payment_id" && !one.startsWith("payment_id="));
  const end = fragment.length === 0 ? "" : `#${fragment.join("#")}`;
  return `${page}?${[...others, `payment_id=${paymentId}`].join("&")}${end}`;
}

function redirectOf({ id, successUrl, errorUrl }: Payment): CheckoutView["redirect"] {
  if (successUrl === null || errorUrl === null) return null;
  return { successUrl: backTo(successUrl, id), errorUrl: backTo(errorUrl, id) };
}

/** A payment as its pages show it; `version` is a digest of everything in it but the time. */
export function checkoutView(parts: ViewParts, checkout: Checkout): CheckoutView {
  const { payment, facts, stage, code } = checkout;
  const shown = {
    id: payment.id,
    stage,
    code,
    status: payment.status,
    isFinal: isFinal(payment.status),
    failureCode: payment.failureCode,
    merchant: shownMerchant(payment.merchantId, facts.merchantName, facts.brand),
    amount: shownPrice(payment),
    reference: payment.referenceId,
    description: facts.description,
    createdAt: payment.createdAt,
    expiresAt: payment.expiresAt,
    redirect: redirectOf(payment),
    sandbox: parts.env.FLORIN_MODE === "sandbox",
    paid: paidOf(parts, checkout),
    arrivals: arrivalsOf(parts, checkout),
    refunds: facts.refunds.map(({ state, asset, minor, to, txId, at }) => ({
      state,
      money: shownMoney(parts, asset, minor),
      to,
      tx: txId === null ? null : shownTx(parts, chainOf(asset), txId),
      at,
    })),
    cancelledBy: facts.cancelledBy,
  };
  const version = hash("sha256", JSON.stringify(shown), "base64url").slice(0, 22);
  return { ...shown, version, serverNow: Date.now() };
}
