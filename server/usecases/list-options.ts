import { parseAccount } from "#server/domain/asset/caip.ts";
import type { Action, WalletRpcAction } from "#server/domain/option/actions.ts";
import { TRAITS } from "#server/domain/option/authorization.ts";
import { etaSeconds } from "#server/domain/option/eta.ts";
import { AppError } from "#server/platform/app-error.ts";
import { failpoint } from "#server/platform/failpoint.ts";
import { ChainUnavailable, type PayerFacts, type TokenFacts } from "#server/ports/chain.ts";
import type { Caller, Services } from "#server/ports/services.ts";
import type { Payment, PaymentOption } from "#server/ports/store.ts";
import { buildData } from "./build-data.ts";
import { collectionFor, type DataDemand } from "./collect-data.ts";
import { describeFound, type PaymentDescription } from "./describe-payment.ts";
import {
  type Asked,
  canReach,
  type Draft,
  type DraftContext,
  draftOption,
  isOwnAccount,
} from "./draft-option.ts";
import { pushLock } from "./push-lock.ts";
import { quoteOption } from "./quote-option.ts";
import { findPayment } from "./read-payment.ts";
import { requireClear } from "./screen-account.ts";

/** An option as a wallet is shown it: what only fetch hands out is a `build` action. */
type MadeOption = Omit<PaymentOption, "actions"> & { actions: Action[]; etaS: number };

/** An option as a wallet gets it; `collectData` is the form its account owes, null when it owes none. */
export type ListedOption = MadeOption & { collectData: DataDemand | null };

/** Why an account cannot pay with an asset; `asset` null: with none on that chain. Amounts are what it would cost and what it holds. */
export type Refused = {
  asked: Asked;
  asset: string | null;
  reason:
    | "short"
    | "unsupported_network"
    | "not_accepted"
    | "network_away"
    | "price_away"
    | "account_kind"
    | "own_account";
  amount: bigint | null;
  holds: bigint | null;
};

type Refuse = (refused: Refused) => void;

/** Longest wait for one chain's answers; a slower chain just gives no option this time. */
const CHAIN_BUDGET_MS = 2_000;
/** An offer with less life than this is made anew instead of being handed out again. */
const REUSE_MIN_LIFE_S = 30;
/** An authorization of a long-lived payment is reused while it has this much life left. */
const REUSE_MIN_AUTHORIZATION_S = 1_800;

function readAccounts(accounts: string[]): Asked[] {
  const issues = [];
  const seen = new Map<string, Asked>();
  for (const [index, written] of accounts.entries()) {
    const account = parseAccount(written);
    if (account === null)
      issues.push({
        path: `accounts.${index}`,
        field: "accounts",
        message: "Not a CAIP-10 account such as eip155:1:0x and 40 hex digits",
      });
    else {
      const key = `${account.chain}:${account.address}`;
      if (!seen.has(key)) seen.set(key, { written, account });
    }
  }
  if (issues.length > 0)
    throw new AppError("params_validation", "Validation error: an account is malformed", {
      status: 422,
      issues,
    });
  return [...seen.values()];
}

/** The approvals among an option's actions: the one part that depends on more than its terms. */
const approvalsOf = (actions: WalletRpcAction[]): string =>
  JSON.stringify(actions.slice(0, -1).filter(({ data }) => data.method === "eth_sendTransaction"));

/** Whether an offer made earlier says the same and still has life in it. */
function sameOffer(stored: PaymentOption, draft: Draft, payment: Payment, now: number): boolean {
  const end = stored.expiresAt ?? payment.expiresAt;
  // What has no price lives as long as the payment does, or for the next half hour at least.
  const lives = draft.quote?.priced
    ? end > now + REUSE_MIN_LIFE_S
    : end >= Math.min(payment.expiresAt, now + REUSE_MIN_AUTHORIZATION_S);
  return (
    lives &&
    stored.chain === draft.chain &&
    stored.asset === draft.asset &&
    stored.payer === draft.payer &&
    stored.recipient === draft.recipient &&
    stored.mechanism === draft.mechanism &&
    stored.amount === draft.amount &&
    approvalsOf(stored.actions) === approvalsOf(draft.actions) &&
    stored.quote?.priced === draft.quote?.priced
  );
}

const isListed = (refusal: unknown): boolean =>
  refusal instanceof AppError && refusal.code === "sanctioned_user";

/** Whether an account could not be screened because its whole chain is away: then it just has no options, and is no refusal of the others. */
const isAway = (held: PromiseSettledResult<unknown>, refusal: unknown): boolean =>
  held.status === "rejected" && held.reason instanceof ChainUnavailable && !isListed(refusal);

/** Screens an account that gets no option either way, so that a screening without an answer refuses nobody. */
async function requireUnlisted(services: Services, { account }: Asked): Promise<void> {
  try {
    await requireClear(services, account);
  } catch (refusal) {
    if (!(refusal instanceof AppError) || isListed(refusal)) throw refusal;
  }
}

/** An offer, or why there is none in this token. */
type Drafted = Draft | Pick<Refused, "reason" | "amount" | "holds">;

async function draftIn(
  services: Services,
  context: DraftContext,
  token: TokenFacts,
  facts: PayerFacts,
): Promise<Drafted> {
  const { payment, chain, asked } = context;
  const holding = facts.tokens.find(({ asset }) => asset === token.asset);
  const quoted = await quoteOption(services, payment, token);
  const amount = quoted?.amount ?? null;
  const holds = holding?.balance ?? null;
  const no = (reason: Refused["reason"]) => ({ reason, amount, holds });
  if (holding === undefined) return no("network_away");
  if (quoted === null) return no("price_away");
  if (holding.balance < quoted.amount) return no("short");
  const { hasCode } = facts;
  const draft = draftOption(context, token, quoted, { hasCode, allowance: holding.allowance });
  if (draft === null)
    return no(isOwnAccount(payment, chain, token.asset, asked) ? "own_account" : "account_kind");
  const { mechanism } = draft;
  if (mechanism !== "native" && (await chain.fundedSigners(mechanism)).length === 0)
    return no("network_away");
  return (await canReach(payment, chain, token)) ? draft : no("not_accepted");
}

async function draftsFor(
  services: Services,
  payment: Payment,
  asked: Asked,
  proofFor: string | null,
  refuse: Refuse,
): Promise<Draft[]> {
  const chain = services.chains.get(asked.account.chain);
  const none = { asked, asset: null, amount: null, holds: null };
  if (chain === undefined || chain.facts.environment !== payment.environment) {
    refuse({ ...none, reason: "unsupported_network" });
    if (chain !== undefined) await requireUnlisted(services, asked);
    return [];
  }
  const accepted = ({ asset }: TokenFacts) => payment.destinations[asset] !== undefined;
  const tokens = chain.facts.tokens.filter(accepted);
  for (const token of chain.facts.tokens)
    if (!accepted(token)) refuse({ ...none, asset: token.asset, reason: "not_accepted" });
  if (tokens.length === 0) {
    await requireUnlisted(services, asked);
    return [];
  }
  const { address } = asked.account;
  const [held, cleared] = await Promise.allSettled([
    chain.payerFacts(
      address,
      tokens.map(({ asset }) => asset),
    ),
    requireClear(services, asked.account),
  ]);
  if (cleared.status === "rejected" && !isAway(held, cleared.reason)) throw cleared.reason;
  if (held.status === "rejected") throw held.reason;
  const facts = held.value;
  const now = services.clock.now();
  const context = { payment, chain, asked, now, proofFor };
  const drafted = await Promise.all(
    tokens.map(async (token) => {
      const made = await draftIn(services, context, token, facts);
      if (!("reason" in made)) return made;
      refuse({ asked, asset: token.asset, ...made });
      return null;
    }),
  );
  return drafted.filter((draft) => draft !== null);
}

/** The drafts of one account, or none when its chain does not answer in time: other chains are not affected. */
async function draftsWithinBudget(
  services: Services,
  payment: Payment,
  asked: Asked,
  proofFor: string | null,
  refuse: Refuse,
): Promise<Draft[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ChainUnavailable("no answer in time")), CHAIN_BUDGET_MS);
  });
  try {
    return await Promise.race([draftsFor(services, payment, asked, proofFor, refuse), late]);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    services.log.warn({ chain: asked.account.chain, err: error }, "chain gave no options");
    refuse({ asked, asset: null, reason: "network_away", amount: null, holds: null });
    return [];
  } finally {
    clearTimeout(timer);
  }
}

/** What a wallet is shown of an option's calls: those that money moves by alone, or that live for a minute, are handed out by fetch. */
const shownActions = (services: Services, option: PaymentOption): Action[] =>
  TRAITS[option.mechanism].calls === "fetch"
    ? [
        {
          type: "build",
          data: { data: buildData(services.env.FLORIN_TOKEN_SECRET, option) },
        },
      ]
    : option.actions;

async function makeOptions(
  services: Services,
  payment: Payment,
  asked: Asked[],
  refuse: Refuse,
): Promise<MadeOption[]> {
  const merchant = payment.provesOwnership
    ? await services.store.merchant(payment.merchantId)
    : null;
  const proofFor = payment.provesOwnership ? (merchant?.name ?? "") : null;
  const [lock, drafts, earlier] = await Promise.all([
    pushLock(services, payment.id),
    Promise.all(asked.map((one) => draftsWithinBudget(services, payment, one, proofFor, refuse))),
    services.store.optionsOf(
      payment.id,
      asked.map(({ account }) => account.address),
    ),
  ]);
  // A transfer is on its way: whoever is offered another way now would pay twice.
  if (lock !== null) return [];
  const now = services.clock.now();
  const offers = drafts.flat().map((draft) => ({
    draft,
    stored: earlier.find((option) => sameOffer(option, draft, payment, now)) ?? null,
  }));
  await failpoint("options.before_save");
  const saved = await services.store.saveOptions(
    offers.filter(({ stored }) => stored === null).map(({ draft }) => draft),
  );
  await failpoint("options.after_save");
  return offers.flatMap(({ draft, stored }) => {
    const option = stored ?? saved.find(({ fingerprint }) => fingerprint === draft.fingerprint);
    const facts = services.chains.get(draft.chain)?.facts;
    if (option === undefined || facts === undefined) return [];
    const etaS = etaSeconds(option.depth, facts.blockTimeMs, facts.tagBlocks);
    return [{ ...option, actions: shownActions(services, option), account: draft.account, etaS }];
  });
}

/** Lists what the given accounts can pay with. A payment that is handed in or over answers no options. */
export async function listOptions(
  services: Services,
  caller: Caller,
  id: string,
  input: { accounts: string[]; includePaymentInfo: boolean },
): Promise<{
  options: ListedOption[];
  info: PaymentDescription | null;
  collectData: DataDemand | null;
  /** In no order; empty when nothing can be paid any more. */
  refused: Refused[];
}> {
  const payment = await findPayment(services, caller, id);
  const asked = readAccounts(input.accounts);
  if (
    payment.status === "expired" ||
    (payment.status === "requires_action" && payment.windowClosed)
  )
    throw new AppError("payment_expired", "The payment has expired");
  const refused: Refused[] = [];
  const made =
    payment.status === "requires_action"
      ? await makeOptions(services, payment, asked, (one) => refused.push(one))
      : [];
  const payers = made.map(({ chain, payer }) => ({ chain, address: payer }));
  const owed = await collectionFor(services, payment, payers);
  const options = made.map((option) => ({
    ...option,
    collectData: owed.of({ chain: option.chain, address: option.payer }),
  }));
  const info = input.includePaymentInfo ? await describeFound(services, payment) : null;
  return { options, info, collectData: owed.all, refused };
}
