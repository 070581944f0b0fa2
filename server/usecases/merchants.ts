import { AppError } from "#server/platform/app-error.ts";
import { newId } from "#server/platform/ids.ts";
import type {
  Destination,
  MerchantChange,
  MerchantFilter,
  MerchantRecord,
  MerchantSettings,
  MerchantTx,
  Page,
  Position,
} from "#server/ports/merchants.ts";
import type { Caller, Services } from "#server/ports/services.ts";
import type { IdempotencyClaim, StoredAnswer } from "#server/ports/store.ts";
import { runOnce } from "./run-once.ts";

type Partner = Caller & { kind: "partner" };

/** What no id of ours looks like is not asked for: a database refuses some of it. */
const ID = /^[A-Za-z0-9_-]{1,100}$/;

/** Whether a path's id can be one at all. */
export const isId = (value: string): boolean => ID.test(value);

const notFound = () => new AppError("merchant_not_found", "There is no such merchant");

const isOwn = (caller: Partner, merchant: MerchantRecord): boolean =>
  merchant.partnerId === caller.partnerId &&
  merchant.environment === caller.environment &&
  (caller.merchantId === null || caller.merchantId === merchant.id);

/** The merchant, if this caller manages it; a foreign, a deleted and a missing one are refused alike. */
export async function findMerchant(
  services: Services,
  caller: Partner,
  id: string,
): Promise<MerchantRecord> {
  const found = isId(id) ? await services.store.merchantRecord(id) : null;
  if (found === null || !isOwn(caller, found) || found.status === "deleted") throw notFound();
  return found;
}

/** As `findMerchant`, holding the row until the transaction ends. */
export async function lockOwnMerchant(
  tx: MerchantTx,
  caller: Partner,
  id: string,
): Promise<MerchantRecord> {
  const found = isId(id) ? await tx.lockMerchant(id) : null;
  if (found === null || !isOwn(caller, found) || found.status === "deleted") throw notFound();
  return found;
}

const DEFAULTS: Omit<MerchantSettings, "name"> = {
  email: null,
  iconUrl: null,
  flow: "intermediary",
  settlementSchedule: "instant",
  collectWhen: "never",
  collectAboveCents: 0,
  proveOwnership: false,
};

/** `before` with what a change names. */
function applied(before: MerchantSettings, change: MerchantChange): MerchantSettings {
  const collectWhen = change.collectWhen ?? before.collectWhen;
  const above =
    change.collectWhen === undefined ? before.collectAboveCents : change.collectAboveCents;
  return {
    name: change.name ?? before.name,
    email: change.email ?? before.email,
    iconUrl: change.iconUrl === undefined ? before.iconUrl : change.iconUrl,
    flow: change.flow ?? before.flow,
    settlementSchedule: change.settlementSchedule ?? before.settlementSchedule,
    collectWhen,
    collectAboveCents: collectWhen === "above" ? (above ?? 0) : 0,
    proveOwnership: change.proveOwnership ?? before.proveOwnership,
  };
}

/** Creates a merchant of the caller's partner; a key for one merchant may not. */
export async function createMerchant(
  services: Services,
  caller: Partner,
  wanted: MerchantChange & { name: string },
  claim: IdempotencyClaim | null,
  render: (merchant: MerchantRecord) => StoredAnswer,
): Promise<{ answer: StoredAnswer; replayed: boolean }> {
  if (caller.merchantId !== null)
    throw new AppError("forbidden", "A key for one merchant may not create others");
  const { partnerId, environment } = caller;
  // Outside of the work: a second run after a lost answer finds the row of the first.
  const id = newId("merchant");
  return runOnce(services, claim, async (tx) => {
    const settings = applied({ ...DEFAULTS, name: wanted.name }, wanted);
    return render(await tx.insertMerchant({ ...settings, id, partnerId, environment }));
  });
}

/** The partner's merchants but the deleted ones, or the one merchant of the caller's key; newest first. */
export const listMerchants = (
  services: Services,
  caller: Partner,
  wanted: Pick<MerchantFilter, "status" | "search">,
  after: Position | null,
  limit: number,
): Promise<Page<MerchantRecord> & { total: number }> => {
  const { partnerId, environment, merchantId } = caller;
  return services.store.merchantPage(
    { partnerId, environment, merchantId, ...wanted },
    after,
    limit,
  );
};

/** One merchant with where its money goes. */
export async function readMerchant(
  services: Services,
  caller: Partner,
  id: string,
): Promise<{ merchant: MerchantRecord; destinations: Destination[] }> {
  const merchant = await findMerchant(services, caller, id);
  return { merchant, destinations: await services.store.destinationsOf(id) };
}

/** Changes what a change names; payments that exist keep their snapshots. */
export const updateMerchant = (
  services: Services,
  caller: Partner,
  id: string,
  change: MerchantChange,
): Promise<MerchantRecord> =>
  services.store.transaction(async (tx) => {
    const before = await lockOwnMerchant(tx, caller, id);
    const after = applied(before, change);
    await tx.updateMerchant(id, after);
    return { ...before, ...after };
  });

/** Deletes a merchant; doing so again changes nothing and succeeds too. */
export const deleteMerchant = (services: Services, caller: Partner, id: string): Promise<void> =>
  services.store.transaction(async (tx) => {
    const found = isId(id) ? await tx.lockMerchant(id) : null;
    if (found === null || !isOwn(caller, found)) throw notFound();
    if (found.status !== "deleted") await tx.markMerchantDeleted(id);
  });
