import {
  type Account,
  accountId,
  assetId,
  chainOf,
  parseAccount,
  parseAsset,
} from "#server/domain/asset/caip.ts";
import { AppError, type Issue } from "#server/platform/app-error.ts";
import { newId } from "#server/platform/ids.ts";
import type { ChainFacts } from "#server/ports/chain.ts";
import type { Destination } from "#server/ports/merchants.ts";
import type { Caller, Services } from "#server/ports/services.ts";
import type { IdempotencyClaim, StoredAnswer, Tx } from "#server/ports/store.ts";
import { findMerchant, isId, lockOwnMerchant } from "./merchants.ts";
import { runOnce } from "./run-once.ts";

type Partner = Caller & { kind: "partner" };
type Wanted = { asset: string; destination: string };
type Environment = Caller["environment"];
type Chains = Services["chains"];
type Finding = { member: "asset" | "destination"; message: string };

/** Accounts that nobody has: no money is ever seen again there. */
const NOBODY = new Set([`0x${"0".repeat(40)}`, "1".repeat(32)]);

const notFound = () => new AppError("not_found", "There is no such settlement destination");

const refuse = (issues: Issue[]): AppError =>
  new AppError("params_validation", `Validation error: ${issues[0]?.path}: ${issues[0]?.message}`, {
    issues,
  });

/** Why an account of a chain cannot receive a merchant's money; null: it can. */
function unfit(account: Account, facts: ChainFacts): string | null {
  const { address } = account;
  if (NOBODY.has(address)) return "must not be the zero address";
  if (facts.registered.some(({ asset }) => parseAsset(asset)?.reference === address))
    return "must not be a token contract";
  const ours = [facts.intermediary, facts.spender, ...facts.relayers];
  return ours.includes(address) ? "must not be an account of this service" : null;
}

/** An account on the asset's chain in canonical spelling, or what is wrong with it. */
function readDestination(chains: Chains, asset: string, text: string): string | Finding {
  const wrong = (message: string): Finding => ({ member: "destination", message });
  const account = parseAccount(text);
  if (account === null) return wrong("must be a CAIP-10 account, such as eip155:8453:0x…");
  const facts = chains.get(chainOf(asset))?.facts;
  if (facts === undefined || account.chain !== facts.chain)
    return wrong("must be on the same chain as the asset");
  const reason = unfit(account, facts);
  return reason === null ? accountId(account) : wrong(reason);
}

/** An asset that payments of this environment can be made in, in canonical spelling. */
function readAsset(chains: Chains, environment: Environment, text: string): string | Finding {
  const wrong = (message: string): Finding => ({ member: "asset", message });
  const asset = parseAsset(text);
  if (asset === null) return wrong("must be a CAIP-19 asset, such as eip155:8453/erc20:0x…");
  const id = assetId(asset);
  const facts = chains.get(asset.chain)?.facts;
  const known =
    facts?.environment === environment && facts.registered.some((token) => token.asset === id);
  return known ? id : wrong("is not an asset this service accepts");
}

function readPair(chains: Chains, environment: Environment, wanted: Wanted): Wanted | Finding {
  const asset = readAsset(chains, environment, wanted.asset);
  if (typeof asset !== "string") return asset;
  const destination = readDestination(chains, asset, wanted.destination);
  return typeof destination === "string" ? { asset, destination } : destination;
}

/** Every entry in canonical spelling, and what is wrong with those that cannot be; `at` counts the entries from 0. */
export function readDestinations(
  chains: Chains,
  environment: Environment,
  wanted: Wanted[],
): { entries: Wanted[]; findings: (Finding & { at: number })[] } {
  const entries: Wanted[] = [];
  const findings: (Finding & { at: number })[] = [];
  const seen = new Set<string>();
  for (const [at, one] of wanted.entries()) {
    const found = readPair(chains, environment, one);
    if ("member" in found) findings.push({ ...found, at });
    else if (seen.has(found.asset))
      findings.push({ member: "asset", message: "is named twice", at });
    else {
      seen.add(found.asset);
      entries.push(found);
    }
  }
  return { entries, findings };
}

/** The entries a request names; refuses all of them when one is wrong. */
function readEntries(services: Services, caller: Partner, wanted: Wanted[]): Wanted[] {
  const { entries, findings } = readDestinations(services.chains, caller.environment, wanted);
  if (findings.length === 0) return entries;
  throw refuse(
    findings.map(({ at, member, message }) => ({
      path: `settlements.${at}.${member}`,
      field: `settlements.${member}`,
      message,
    })),
  );
}

/** Where a merchant's money goes, by asset. */
export async function listDestinations(
  services: Services,
  caller: Partner,
  merchantId: string,
): Promise<Destination[]> {
  await findMerchant(services, caller, merchantId);
  return services.store.destinationsOf(merchantId);
}

/** Adds destinations, all or none; an asset that has one already refuses them. */
export async function addDestinations(
  services: Services,
  caller: Partner,
  merchantId: string,
  wanted: Wanted[],
  claim: IdempotencyClaim | null,
  render: (added: Destination[]) => StoredAnswer,
): Promise<{ answer: StoredAnswer; replayed: boolean }> {
  // Outside of the work: a second run after a lost answer finds the rows of the first.
  const ids = wanted.map(() => newId("destination"));
  return runOnce(services, claim, async (tx) => {
    await lockOwnMerchant(tx, caller, merchantId);
    const entries = readEntries(services, caller, wanted).map((entry, at) => ({
      id: ids[at] ?? newId("destination"),
      ...entry,
    }));
    const taken = await tx.insertDestinations(merchantId, entries);
    if (taken.length > 0)
      throw new AppError(
        "settlement_asset_conflict",
        `There is a settlement destination already for ${taken.join(", ")}`,
      );
    return render(entries);
  });
}

async function own(tx: Tx, caller: Partner, merchantId: string, id: string): Promise<Destination> {
  await lockOwnMerchant(tx, caller, merchantId);
  const found = isId(id) ? await tx.destination(merchantId, id) : null;
  if (found === null) throw notFound();
  return found;
}

/** One destination of a merchant. */
export async function readOneDestination(
  services: Services,
  caller: Partner,
  merchantId: string,
  id: string,
): Promise<Destination> {
  const all = await listDestinations(services, caller, merchantId);
  const found = all.find((one) => one.id === id);
  if (found === undefined) throw notFound();
  return found;
}

/** Sends an asset elsewhere from now on; payments that exist keep their snapshot. */
export const changeDestination = (
  services: Services,
  caller: Partner,
  merchantId: string,
  id: string,
  text: string,
): Promise<Destination> =>
  services.store.transaction(async (tx) => {
    const { asset } = await own(tx, caller, merchantId, id);
    const destination = readDestination(services.chains, asset, text);
    if (typeof destination !== "string")
      throw refuse([{ path: "destination", field: "destination", message: destination.message }]);
    await tx.setDestination(merchantId, id, destination);
    return { id, asset, destination };
  });

/** Takes a destination away: new payments no longer offer its asset. */
export const removeDestination = (
  services: Services,
  caller: Partner,
  merchantId: string,
  id: string,
): Promise<void> =>
  services.store.transaction(async (tx) => {
    await own(tx, caller, merchantId, id);
    if (!(await tx.deleteDestination(merchantId, id))) throw notFound();
  });
