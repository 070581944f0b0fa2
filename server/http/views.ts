import type { z } from "zod";
import { fiatAmount, tokenAmount } from "#server/contract/display.ts";
import type { getGatewayPayment, getGatewayPaymentStatus } from "#server/contract/gateway.ts";
import { chainOf } from "#server/domain/asset/caip.ts";
import { POLL_INTERVAL_MS } from "#server/domain/payment/polling.ts";
import type { PaymentStatus } from "#server/domain/payment/state.ts";
import { isFinal } from "#server/domain/payment/transitions.ts";
import type { Services } from "#server/ports/services.ts";
import type { Payment, PaymentOption } from "#server/ports/store.ts";

type WireStatus = z.input<(typeof getGatewayPaymentStatus)["response"]>;
type WireDescription = z.input<(typeof getGatewayPayment)["response"]>;

/** An icon of the registry as a URL a wallet can load; the registry may name a path on this server. */
const absolute = (services: Services, url: string | null): string | null =>
  url?.startsWith("/") ? `${services.env.baseUrl}${url}` : url;

/** A token amount as the wire shows it; `asset` is CAIP-19 without prefix. */
export function tokenView(services: Services, asset: string, minor: bigint) {
  const chain = services.chains.get(chainOf(asset))?.facts;
  const token = chain?.registered.find((one) => one.asset === asset);
  if (chain === undefined || token === undefined) return tokenAmount(asset, minor, null);
  return tokenAmount(asset, minor, {
    name: token.name,
    symbol: token.symbol,
    decimals: token.decimals,
    iconUrl: absolute(services, token.iconUrl),
    networkName: chain.name,
    networkIconUrl: absolute(services, chain.iconUrl),
  });
}

/** Whether a caller may stop asking, and when to ask again. */
export const pollingOf = (status: PaymentStatus): { isFinal: boolean; pollInMs: number | null } =>
  isFinal(status)
    ? { isFinal: true, pollInMs: null }
    : { isFinal: false, pollInMs: POLL_INTERVAL_MS };

/** Where a payment stands; `info` names what paid it once it succeeded. */
export function statusView(
  services: Services,
  { payment, info }: { payment: Payment; info: { txId: string; option: PaymentOption } | null },
): WireStatus {
  return {
    status: payment.status,
    ...pollingOf(payment.status),
    failureCode: payment.failureCode,
    info:
      info === null
        ? null
        : {
            txId: info.txId,
            optionAmount: tokenView(services, info.option.asset, info.option.amount),
          },
  };
}

/** `statusView` for later: it keeps nothing but the services. */
export const statusShower =
  (services: Services): ((view: Parameters<typeof statusView>[1]) => WireStatus) =>
  (view) =>
    statusView(services, view);

/** A payment as a wallet may see it. */
export const descriptionView = (description: {
  status: PaymentStatus;
  unit: string;
  minor: bigint;
  expiresAt: number;
  merchant: { name: string; iconUrl: string | null };
  buyer: string | null;
}): WireDescription => ({
  status: description.status,
  amount: fiatAmount(description.unit, description.minor),
  expiresAt: description.expiresAt,
  merchant: description.merchant,
  buyer:
    description.buyer === null
      ? null
      : { accountCaip10: description.buyer, accountProviderName: "", accountProviderIcon: null },
});
