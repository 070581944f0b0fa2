import type { z } from "zod";
import type { getMerchant, listMerchants } from "#server/contract/merchants.ts";
import type { Destination, MerchantChange, MerchantRecord } from "#server/ports/merchants.ts";

type WireMerchant = z.input<(typeof listMerchants)["response"]>["merchants"][number];
type WireSettlements = z.input<(typeof getMerchant)["response"]>["merchant"]["settlements"];

/** A merchant as its partner sees it; a deleted one is never shown. */
export function merchantView(m: MerchantRecord): WireMerchant {
  if (m.status === "deleted") throw new Error("a deleted merchant is not shown");
  return {
    id: m.id,
    name: m.name,
    email: m.email,
    status: m.status,
    createdAt: m.createdAt.toISOString(),
    iconUrl: m.iconUrl,
    flow: m.flow,
    settlementSchedule: m.settlementSchedule,
    feeBps: m.feeBps,
    feeFixedCents: m.feeFixedCents,
    collectData: {
      when: m.collectWhen,
      aboveCents: m.collectWhen === "above" ? m.collectAboveCents : null,
    },
    proveOwnership: m.proveOwnership,
  };
}

/** Where a merchant's money goes; nothing goes to bank accounts. */
export const settlementsView = (destinations: Destination[]): WireSettlements => ({
  crypto: destinations,
  fiat: [],
});

/** What a body asks to be set; members it does not have are absent. */
export const merchantChange = (body: {
  merchantName?: string | undefined;
  merchantEmail?: string | undefined;
  iconUrl?: string | null | undefined;
  flow?: "intermediary" | "direct" | undefined;
  settlementSchedule?: "instant" | "batched" | undefined;
  collectData?:
    | { when: "never" | "above" | "always"; aboveCents?: number | null | undefined }
    | undefined;
  proveOwnership?: boolean | undefined;
}): MerchantChange => ({
  name: body.merchantName,
  email: body.merchantEmail,
  iconUrl: body.iconUrl,
  flow: body.flow,
  settlementSchedule: body.settlementSchedule,
  collectWhen: body.collectData?.when,
  collectAboveCents: body.collectData?.aboveCents,
  proveOwnership: body.proveOwnership,
});
