import { createHash } from "node:crypto";
import { type Account, parseAccount } from "#server/domain/asset/caip.ts";
import { paymentNonce } from "#server/domain/option/authorization.ts";
import { etaSeconds } from "#server/domain/option/eta.ts";
import { PRICED_HEADROOM_BPS, QUOTE_LIFETIME_S, type Quote } from "#server/domain/option/quote.ts";
import { depthFor } from "#server/domain/payment/evidence.ts";
import { AUTHORIZATION_GRACE_S, authorizationDeadline } from "#server/domain/payment/expiry.ts";
import { AppError } from "#server/platform/app-error.ts";
import { failpoint } from "#server/platform/failpoint.ts";
import { type ChainPort, ChainUnavailable, type TokenFacts } from "#server/ports/chain.ts";
import type { Caller, Services } from "#server/ports/services.ts";
import type { Payment, PaymentOption } from "#server/ports/store.ts";
import { describeFound, type PaymentDescription } from "./describe-payment.ts";
import { quoteOption } from "./quote-option.ts";
import { findPayment } from "./read-payment.ts";
import { requireClear } from "./screen-account.ts";

export type ListedOption = PaymentOption & { etaS: number };

type Asked = { written: string; account: Account };
type Draft = Omit<PaymentOption, "id">;

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

/** Where the buyer's money goes; null: this asset has no destination, so it is not offered. */
function recipientOf(payment: Payment, chain: ChainPort, asset: string): string | null {
  const destination = payment.destinations[asset];
  if (destination === undefined) return null;
  if (payment.flow === "intermediary") return chain.facts.intermediary;
  return parseAccount(destination)?.address ?? null;
}

function draftOption(
  context: { payment: Payment; chain: ChainPort; asked: Asked; now: number },
  token: TokenFacts,
  quoted: Quote,
  holding: { hasCode: boolean; allowance: bigint },
): Draft | null {
  const { payment, chain, asked, now } = context;
  const recipient = recipientOf(payment, chain, token.asset);
  if (recipient === null || recipient === asked.account.address) return null;
  const expiresAt = quoted.priced ? Math.min(now + QUOTE_LIFETIME_S, payment.expiresAt) : null;
  const offer = chain.offer({
    asset: token.asset,
    payer: asked.account.address,
    payerHasCode: holding.hasCode,
    recipient,
    amount: quoted.amount,
    nonce: paymentNonce(payment.id),
    deadline: authorizationDeadline(payment.expiresAt, expiresAt, now),
    allowance: holding.allowance,
    approveHeadroomBps: quoted.priced ? PRICED_HEADROOM_BPS : 0,
  });
  if (offer === null) return null;
  const fixed = {
    paymentId: payment.id,
    account: asked.written,
    chain: chain.facts.chain,
    asset: token.asset,
    payer: asked.account.address,
    recipient,
    mechanism: offer.authorization.mechanism,
    amount: quoted.amount,
    actions: offer.actions,
    authorization: offer.authorization,
    digest: offer.digest,
    expiresAt,
  };
  const fingerprint = createHash("sha256")
    .update(JSON.stringify([asked.account, fixed.asset, fixed.actions, fixed.digest, expiresAt]))
    .digest("hex");
  return {
    ...fixed,
    fingerprint,
    quote: quoted.prices,
    usdMicros: quoted.usdMicros,
    depth: depthFor(chain.facts.depth, quoted.usdMicros),
  };
}

/** Whether an offer made earlier says the same and still has life in it. */
function sameOffer(stored: PaymentOption, draft: Draft, payment: Payment, now: number): boolean {
  // An authorization must outlive the offer by the grace; a long-lived payment's only for the next half hour.
  const lives =
    stored.expiresAt === null
      ? stored.authorization.deadline - AUTHORIZATION_GRACE_S >=
        Math.min(payment.expiresAt, now + REUSE_MIN_AUTHORIZATION_S)
      : stored.expiresAt > now + REUSE_MIN_LIFE_S;
  return (
    lives &&
    stored.chain === draft.chain &&
    stored.asset === draft.asset &&
    stored.payer === draft.payer &&
    stored.recipient === draft.recipient &&
    stored.mechanism === draft.mechanism &&
    stored.amount === draft.amount &&
    JSON.stringify(stored.actions.slice(0, -1)) === JSON.stringify(draft.actions.slice(0, -1)) &&
    (stored.expiresAt === null) === (draft.expiresAt === null)
  );
}

/** Whether an account could not be screened because its whole chain is away: then it just has no options, and is no refusal of the others. */
const isAway = (held: PromiseSettledResult<unknown>, refusal: unknown): boolean =>
  held.status === "rejected" &&
  held.reason instanceof ChainUnavailable &&
  !(refusal instanceof AppError && refusal.code === "sanctioned_user");

async function draftsFor(services: Services, payment: Payment, asked: Asked): Promise<Draft[]> {
  const chain = services.chains.get(asked.account.chain);
  if (chain === undefined || chain.facts.environment !== payment.environment) return [];
  const tokens = chain.facts.tokens.filter(
    (token) => payment.destinations[token.asset] !== undefined,
  );
  if (tokens.length === 0) return [];
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
  const drafts = await Promise.all(
    tokens.map(async (token) => {
      const holding = facts.tokens.find(({ asset }) => asset === token.asset);
      if (holding === undefined) return null;
      const quoted = await quoteOption(services, payment, token);
      if (quoted === null || holding.balance < quoted.amount) return null;
      const draft = draftOption({ payment, chain, asked, now }, token, quoted, {
        hasCode: facts.hasCode,
        allowance: holding.allowance,
      });
      return draft !== null && (await chain.canSubmit(draft.mechanism)) ? draft : null;
    }),
  );
  return drafts.filter((draft) => draft !== null);
}

/** The drafts of one account, or none when its chain does not answer in time: other chains are not affected. */
async function draftsWithinBudget(
  services: Services,
  payment: Payment,
  asked: Asked,
): Promise<Draft[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ChainUnavailable("no answer in time")), CHAIN_BUDGET_MS);
  });
  try {
    return await Promise.race([draftsFor(services, payment, asked), late]);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    services.log.warn({ chain: asked.account.chain, err: error }, "chain gave no options");
    return [];
  } finally {
    clearTimeout(timer);
  }
}

async function makeOptions(
  services: Services,
  payment: Payment,
  asked: Asked[],
): Promise<ListedOption[]> {
  const [drafts, earlier] = await Promise.all([
    Promise.all(asked.map((one) => draftsWithinBudget(services, payment, one))),
    services.store.optionsOf(
      payment.id,
      asked.map(({ account }) => account.address),
    ),
  ]);
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
    return [{ ...option, account: draft.account, etaS }];
  });
}

/** Lists what the given accounts can pay with. A payment that is handed in or over answers no options. */
export async function listOptions(
  services: Services,
  caller: Caller,
  id: string,
  input: { accounts: string[]; includePaymentInfo: boolean },
): Promise<{ options: ListedOption[]; info: PaymentDescription | null }> {
  const payment = await findPayment(services, caller, id);
  const asked = readAccounts(input.accounts);
  if (
    payment.status === "expired" ||
    (payment.status === "requires_action" && payment.windowClosed)
  )
    throw new AppError("payment_expired", "The payment has expired");
  const options =
    payment.status === "requires_action" ? await makeOptions(services, payment, asked) : [];
  const info = input.includePaymentInfo ? await describeFound(services, payment) : null;
  return { options, info };
}
