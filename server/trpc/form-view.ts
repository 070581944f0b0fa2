import type { CollectField, CollectForm } from "#server/contract/collect.ts";
import {
  COLLECT_SCHEMA,
  type CollectedName,
  PLACES,
  REQUIRED,
} from "#server/domain/collect/form.ts";
import type { FormOffer } from "#server/usecases/collect-form.ts";
import { shownMerchant, shownPrice, type ViewParts } from "./views.ts";

const KINDS: Record<CollectedName, CollectField["kind"]> = {
  fullName: "text",
  dob: "date",
  pobCountry: "country",
  pobAddress: "text",
  porCountry: "country",
  porAddress: "text",
  tosConfirmed: "consent",
};

function fieldOf(name: CollectedName): CollectField {
  const property: { title: string; maxLength?: number } = COLLECT_SCHEMA.properties[name];
  return {
    name,
    title: property.title,
    kind: KINDS[name],
    maxLength: property.maxLength ?? null,
  };
}

/** A form as its page shows it. */
export function shownForm({ env }: ViewParts, offer: FormOffer): CollectForm {
  const { payment, merchant, brand, accounts, token, given } = offer;
  return {
    paymentId: payment.id,
    accounts,
    token,
    tokenExpiresAt: Number(token.split(".")[0]),
    merchant: shownMerchant(merchant.id, merchant.name, brand),
    amount: shownPrice(payment),
    schema: COLLECT_SCHEMA,
    required: REQUIRED.map(fieldOf),
    oneOf: PLACES.map((pair) => pair.map(fieldOf)),
    why: merchant.collectWhen === "above" ? "above" : "always",
    keptDays: env.FLORIN_DATA_DAYS,
    given,
    sandbox: env.FLORIN_MODE === "sandbox",
  };
}
