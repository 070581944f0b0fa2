import { type Account, accountId } from "#server/domain/asset/caip.ts";
import {
  COLLECT_FIELDS,
  COLLECT_SCHEMA,
  type CollectedFields,
  DEMANDED,
  isWholeForm,
} from "#server/domain/collect/form.ts";
import { COLLECT_LINK_LIFE_S, makeCollectUrl } from "#server/domain/collect/token.ts";
import { fromWallet, validateCollected } from "#server/domain/collect/validate.ts";
import { AppError } from "#server/platform/app-error.ts";
import { seal } from "#server/platform/seal.ts";
import type { HeldData, SealedField } from "#server/ports/collect.ts";
import type { Services } from "#server/ports/services.ts";
import type { Payment, Tx } from "#server/ports/store.ts";

/** What sealed personal data is for, and where each field of it belongs. */
export const COLLECTED_PURPOSE = "collected";
export const collectedPlace = (paymentId: string, account: string, name: string): string =>
  `collected_field:${paymentId}:${account}:${name}`;

/** The form as a wallet is given it: a page, a schema for a form of its own, and the older list of fields. */
export type DataDemand = {
  url: string;
  schema: typeof COLLECT_SCHEMA;
  fields: typeof COLLECT_FIELDS;
};

/** What is still to be given: `all` covers every account that owes data, null when none does. */
export type Collection = { all: DataDemand | null; of(account: Account): DataDemand | null };

const NOTHING: Collection = { all: null, of: () => null };

/** Today in UTC as YYYY-MM-DD. */
const today = ({ clock }: Services): string =>
  new Date(clock.now() * 1_000).toISOString().slice(0, 10);

/** Accounts (canonical CAIP-10) whose data for this payment is outstanding, each once. */
async function outstanding(
  services: Services,
  payment: Payment,
  accounts: string[],
): Promise<string[]> {
  const asked = [...new Set(accounts)];
  if (!payment.collectsData || asked.length === 0) return [];
  const held = await services.store.heldData(payment, asked);
  const covers = (account: string) => (data: HeldData) =>
    data.account === account && isWholeForm(data.names);
  return asked.filter((account) => !held.some(covers(account)));
}

/** Whether none of these accounts (canonical CAIP-10) owes data for a payment any more. */
export const isCollected = async (
  services: Services,
  payment: Payment,
  accounts: string[],
): Promise<boolean> => (await outstanding(services, payment, accounts)).length === 0;

/** Which of these accounts owe data for a payment, and where they can give it. */
export async function collectionFor(
  services: Services,
  payment: Payment,
  accounts: Account[],
): Promise<Collection> {
  const owing = await outstanding(services, payment, accounts.map(accountId));
  if (owing.length === 0) return NOTHING;
  const { FLORIN_TOKEN_SECRET: secret, checkoutUrl } = services.env;
  const until = Math.min(payment.expiresAt, services.clock.now() + COLLECT_LINK_LIFE_S);
  const demand = (of: string[]): DataDemand => ({
    url: makeCollectUrl({ secret, checkoutUrl }, payment.id, of, until),
    schema: COLLECT_SCHEMA,
    fields: COLLECT_FIELDS,
  });
  const each = new Map(owing.map((account) => [account, demand([account])]));
  return { all: demand(owing), of: (account) => each.get(accountId(account)) ?? null };
}

/** Checks a form; every finding is an issue under `path`. */
export function readForm(services: Services, data: unknown, path: string): CollectedFields {
  const read = validateCollected(data, today(services));
  if (read.kind === "valid") return read.fields;
  throw new AppError("params_validation", "Validation error: the collected data is not valid", {
    issues: read.issues.map(({ field, message }) => ({
      path: field === "" ? path : `${path}.${field}`,
      field: field === "" ? path : field,
      message,
    })),
  });
}

/** Each field sealed by itself and bound to its row. */
export function sealFields(
  services: Services,
  paymentId: string,
  account: string,
  fields: CollectedFields,
): SealedField[] {
  const { FLORIN_DATA_SECRET: secret } = services.env;
  return fields.map(({ name, value }) => ({
    name,
    sealed: seal(secret, COLLECTED_PURPOSE, collectedPlace(paymentId, account, name), value),
  }));
}

/** Data that came with a call, sealed, for `acceptCollected`; null: none is needed from it. */
export type GivenData = SealedField[] | null;

/**
 * Lets a call through whose account owes no data, or that brings it in `collectedData`; throws with what is missing or
 * wrong. What an account gave before and has proven is not replaced; what else was given for this payment is.
 */
export async function requireCollected(
  services: Services,
  payment: Payment,
  account: Account,
  collectedData: unknown,
): Promise<GivenData> {
  if (!payment.collectsData) return null;
  const id = accountId(account);
  const held = await services.store.heldData(payment, [id]);
  const whole = held.filter(({ names }) => isWholeForm(names));
  if (whole.some(({ proven }) => proven)) return null;
  if (collectedData == null) {
    if (whole.length > 0) return null;
    throw new AppError(
      "params_validation",
      `Validation error: IC data required but not found: ${DEMANDED}`,
      {
        issues: [
          { path: "collectedData", field: "collectedData", message: `is required: ${DEMANDED}` },
        ],
      },
    );
  }
  const data = fromWallet(collectedData);
  if (data === null)
    throw new AppError("params_validation", "Validation error: collectedData is malformed", {
      issues: [
        {
          path: "collectedData",
          field: "collectedData",
          message: "must be {fields: [{id, value}]} with each field once",
        },
      ],
    });
  return sealFields(services, payment.id, id, readForm(services, data, "collectedData"));
}

/**
 * Keeps what came with results that are being accepted, and counts the account's data of this payment as its own from
 * now on. In the accepting transaction: nobody without the account's signature leaves data behind this way.
 */
export async function acceptCollected(
  tx: Tx,
  services: Services,
  payment: Payment,
  account: Account,
  given: GivenData,
): Promise<void> {
  if (!payment.collectsData) return;
  const id = accountId(account);
  if (given !== null) await tx.storeCollected(payment.id, id, given, services.env.FLORIN_DATA_DAYS);
  await tx.proveCollected(payment.id, id);
}
