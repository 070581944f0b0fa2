import type {
  CheckoutChain,
  CheckoutOption,
  CheckoutOptions,
  PayStep,
  UnavailableOption,
} from "#server/contract/checkout.ts";
import { type Step, stepsOf } from "#server/domain/checkout/steps.ts";
import { TRAITS } from "#server/domain/option/authorization.ts";
import type { Payment } from "#server/ports/store.ts";
import type { ListedOption, Refused } from "#server/usecases/list-options.ts";
import { explorerOf, networkIcon, shownAmount, shownMoney, type ViewParts } from "./views.ts";

const shownStep = (step: Step, { decimals, symbol }: { decimals: number; symbol: string }) =>
  step.kind === "approve"
    ? {
        kind: step.kind,
        amount: shownAmount(step.minor, decimals, symbol),
        spender: step.spender,
      }
    : { kind: step.kind };

function shownOption(parts: ViewParts, option: ListedOption, payment: Payment): CheckoutOption {
  const { broadcaster } = TRAITS[option.mechanism];
  const money = shownMoney(parts, option.asset, option.amount);
  const proves = payment.provesOwnership;
  const steps: PayStep[] = stepsOf(option.actions, { broadcaster, proves }).map((step) =>
    shownStep(step, money),
  );
  return {
    id: option.id,
    account: option.account,
    chain: option.chain,
    money,
    networkIconUrl: networkIcon(parts, option.chain),
    etaS: option.etaS,
    expiresAt: option.expiresAt,
    needsData: option.collectData !== null,
    steps,
    networkFee: broadcaster === "wallet" ? "buyer" : "shop",
  };
}

function shownRefusal(parts: ViewParts, refused: Refused): UnavailableOption {
  const { asked, asset, reason, amount, holds } = refused;
  const { chain } = asked.account;
  const money = asset === null ? null : shownMoney(parts, asset, amount ?? 0n);
  const inSame = (minor: bigint) =>
    money === null ? null : shownAmount(minor, money.decimals, money.symbol);
  return {
    account: asked.written,
    chain,
    network: parts.services.chains.get(chain)?.facts.name ?? chain,
    symbol: money?.symbol ?? null,
    reason,
    money: amount === null ? null : money,
    holds: holds === null ? null : inSame(holds),
    short: reason === "short" && amount !== null && holds !== null ? inSame(amount - holds) : null,
  };
}

/** Fewest requests to the wallet first, then those whose fee the shop pays, then the quickest. */
const byEase = (a: CheckoutOption, b: CheckoutOption): number =>
  Number(a.networkFee === "buyer") - Number(b.networkFee === "buyer") ||
  a.steps.length - b.steps.length ||
  Number(a.needsData) - Number(b.needsData) ||
  a.etaS - b.etaS;

/** Those that would work with a little more money first, those the shop does not take last. */
const RANK: Record<Refused["reason"], number> = {
  short: 0,
  network_away: 1,
  price_away: 1,
  account_kind: 2,
  own_account: 2,
  not_accepted: 3,
  unsupported_network: 4,
};

/** By rank, then what the account has some of; the rest is an order that is always the same. */
const byHope = (a: Refused, b: Refused): number =>
  RANK[a.reason] - RANK[b.reason] ||
  Number((b.holds ?? 0n) > 0n) - Number((a.holds ?? 0n) > 0n) ||
  a.asked.written.localeCompare(b.asked.written) ||
  (a.asset ?? "").localeCompare(b.asset ?? "");

/** What accounts can and cannot pay with, the easiest first. */
export const shownOptions = (
  parts: ViewParts,
  payment: Payment,
  { options, refused }: { options: ListedOption[]; refused: Refused[] },
): CheckoutOptions => ({
  options: options.map((option) => shownOption(parts, option, payment)).toSorted(byEase),
  unavailable: refused.toSorted(byHope).map((one) => shownRefusal(parts, one)),
});

/** The networks a payment can be paid on, as a wallet has to be told of them. */
export function shownChains(parts: ViewParts, payment: Payment): CheckoutChain[] {
  const accepted = new Set(Object.keys(payment.destinations));
  return [...parts.services.chains.values()]
    .map(({ facts }) => ({
      facts,
      tokens: facts.tokens.filter(({ asset }) => accepted.has(asset)),
    }))
    .filter(({ facts, tokens }) => facts.environment === payment.environment && tokens.length > 0)
    .map(({ facts, tokens }) => ({
      caip2: facts.chain,
      name: facts.name,
      native: nativeOf(parts, facts.chain),
      rpcUrl: null,
      explorerUrl: explorerOf(parts, facts.chain),
      iconUrl: networkIcon(parts, facts.chain),
      tokens: tokens.map(({ symbol }) => symbol),
    }));
}

const SOL_DECIMALS = 9;

function nativeOf({ env }: ViewParts, caip2: string): CheckoutChain["native"] {
  const evm = env.chains.find(({ entry }) => entry.caip2 === caip2)?.entry.native;
  if (evm !== undefined) return { name: evm.name, symbol: evm.symbol, decimals: evm.decimals };
  const sol = env.solana.find(({ entry }) => entry.caip2 === caip2)?.entry.native;
  return { name: sol?.name ?? "", symbol: sol?.symbol ?? "", decimals: SOL_DECIMALS };
}
