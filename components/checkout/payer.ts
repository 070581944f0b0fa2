import {
  type WalletChain,
  WalletError,
  type WalletFinder,
  type WalletInfo,
  type WalletSession,
} from "#components/wallet/kit.ts";
import type { CheckoutOption, CheckoutOptions, CheckoutView } from "#server/contract/checkout.ts";
import type { WalletRpcAction } from "#server/domain/option/actions.ts";
import type { ApiClient } from "#server/trpc/client.ts";
import { targetOf } from "./ask-target.ts";
import {
  type FlowEvent,
  isSending,
  needsApproval,
  type Rejection,
  type Step,
  sameWay,
} from "./flow.ts";
import { backoff } from "./load-code.ts";
import { refusalIn } from "./refusal.ts";
import { judge, rejectionIn } from "./rejection.ts";
import {
  asResult,
  isEarlyStep,
  isSentByWallet,
  keptAfterRefusal,
  lackOf,
  type Result,
} from "./results.ts";
import { tookNothing } from "./state.ts";
import type { TabLock } from "./tab-lock.ts";
import { sentKey, tabMemory } from "./tab-memory.ts";

/** What paying needs; `chains` are those the payment can be paid on. */
export type PayerParts = {
  id: string;
  api: ApiClient;
  /** Null: no wallets are looked for, since nothing is to be paid any more. */
  finder: () => WalletFinder | null;
  chains: readonly WalletChain[];
  lock: TabLock;
  step: () => Step;
  /** False once this page knows that nothing more is to be paid: then no wallet is asked for anything. */
  isOpen: () => boolean;
  dispatch: (event: FlowEvent) => void;
  see: (view: CheckoutView) => void;
  wake: () => void;
};

/** Milliseconds the first step's end is shown before the wallet is asked for the next one. */
const BETWEEN_STEPS_MS = 2_500;
/** How often balances are read once more from networks that gave no answer. */
const MORE_LOOKS = 2;
/** How a transfer's confirm is refused once its payment is over. */
const CLOSED = new Set(["payment_expired", "invalid_state"]);
/** A wallet was asked for a permission, and its answer says nothing. */
const UNCLEAR = { type: "refused", why: "unknown", switching: false } as const;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Whether there is nothing to pay with while a network gave no answer. */
const isUnread = ({ options, unavailable }: CheckoutOptions) =>
  options.length === 0 && unavailable.some(({ reason }) => reason === "network_away");

const failureOf = (error: unknown) => (error instanceof WalletError ? error.kind : "unknown");

/** Carries out what the buyer decides: asks the wallet, hands in what it gave, and tells every turn. One run at a time. */
export class Payer {
  readonly #parts: PayerParts;
  #session: WalletSession | null = null;
  #leaveSession: () => void = () => {};
  /** The wallet shows other accounts than those whose ways to pay are on the page. */
  #hasMoved = false;
  /** Grows with each new undertaking; what an older one still brings is dropped. */
  #run = 0;
  #goOn: () => void = () => {};
  /** What the wallet gave for the steps of one option so far. */
  #done: { optionId: string; results: Result[] } = { optionId: "", results: [] };

  constructor(parts: PayerParts) {
    this.#parts = parts;
  }

  /** Asks a wallet for its accounts, then what they can pay with. Only ever from a click. */
  async connect(wallet: WalletInfo): Promise<void> {
    const { lock, dispatch, chains } = this.#parts;
    const finder = this.#parts.finder();
    if (finder === null) return;
    dispatch({ type: "connect", wallet });
    if (!(await lock.take())) return dispatch({ type: "other_tab", busy: true });
    let run = ++this.#run;
    try {
      const session = await finder.connect(wallet.id, [...chains]);
      // Asked twice, a wallet may answer either request: the first answer counts, as long as it is waited for.
      if (run !== this.#run) {
        if (!this.#awaits(wallet)) return;
        run = ++this.#run;
      }
      this.#keep(session);
      tabMemory.write(`florin:wallet:${this.#parts.id}`, wallet.id);
      dispatch({ type: "connected", accounts: this.#accounts() });
    } catch (error) {
      if (run === this.#run) dispatch({ type: "connect_failed", why: failureOf(error) });
      return;
    }
    await this.find(run);
  }

  #awaits({ id }: WalletInfo): boolean {
    const step = this.#parts.step();
    return step.at === "connecting" && step.wallet.id === id;
  }

  /** Lets the wallet go; other tabs may pay again. */
  leave(): void {
    this.#run++;
    this.#leaveSession();
    void this.#session?.disconnect();
    this.#session = null;
    this.#parts.lock.release();
    this.#parts.dispatch({ type: "back" });
  }

  /** Drops what is being asked and goes back to the ways to pay; those of the accounts that the wallet shows now. */
  back(): void {
    this.#run++;
    this.#parts.dispatch({ type: "back" });
    if (this.#hasMoved) this.#lookAgain();
  }

  #lookAgain(): void {
    this.#hasMoved = false;
    this.#parts.dispatch({ type: "connected", accounts: this.#accounts() });
    void this.find();
  }

  /** Reads anew what the accounts can pay with; networks that give no answer are asked again before the page has nothing to offer. */
  async find(run = ++this.#run): Promise<void> {
    const { dispatch, step } = this.#parts;
    try {
      let found = await this.#options();
      for (let failures = 0; isUnread(found) && failures < MORE_LOOKS; failures++) {
        await pause(backoff(failures));
        if (run !== this.#run) return;
        found = await this.#options();
      }
      if (run !== this.#run) return;
      const isKnown =
        !isUnread(found) || found.unavailable.some(({ reason }) => reason === "short");
      dispatch(isKnown ? { type: "found", found } : { type: "find_failed" });
    } catch (error) {
      if (run !== this.#run || judge(this.#parts, error)) return;
      if (step().at === "finding") dispatch({ type: "find_failed" });
    }
  }

  /** Pays with an option; steps of it that the wallet has done before are not asked for again. */
  async pay(option: CheckoutOption): Promise<void> {
    if (this.#hasMoved && !this.#accounts().includes(option.account)) return this.back();
    const run = ++this.#run;
    const sent = isSentByWallet(option) ? this.#sent() : null;
    if (sent !== null) return this.#handIn({ ...option, id: sent.optionId }, sent.results, run);
    await this.#payIn(option, run);
  }

  /** `again`: the wallet is asked once more, because its last signature came too late. */
  async #payIn(option: CheckoutOption, run: number, again = false): Promise<void> {
    const actions = await this.#actions(option, run);
    if (actions === null || run !== this.#run) return;
    if (this.#done.optionId !== option.id) this.#done = { optionId: option.id, results: [] };
    const { results } = this.#done;
    for (const [index, action] of actions.entries()) {
      if (index < results.length) continue;
      const output = await this.#execute(option, { action, index, total: actions.length }, run);
      if (output === null) return;
      results.push(asResult(output.value));
      if (isEarlyStep(option.steps[index]?.kind))
        await this.#between(index, action, output.value, run);
      if (run !== this.#run) return;
    }
    await this.#handIn(option, results, run, again);
  }

  /** The buyer does not wait for the pause between two steps. */
  goOn(): void {
    this.#goOn();
  }

  /** Hands in again what a reload may have cut off: a transfer that was sent, and nothing that was only signed. */
  async resume(): Promise<void> {
    const sent = this.#sent();
    if (sent === null) return;
    const run = this.#run;
    const view = await this.#confirm(sent.optionId, sent.results).catch(() => null);
    if (view === null || run !== this.#run) return;
    this.#parts.dispatch({ type: tookNothing(view.stage) ? "sent_late" : "handed_in" });
  }

  #sent(): { optionId: string; results: Result[] } | null {
    const kept = tabMemory.read(this.#sentKey);
    return kept === null ? null : JSON.parse(kept);
  }

  get #sentKey() {
    return sentKey(this.#parts.id);
  }

  #accounts(): string[] {
    return this.#session?.accounts(this.#parts.chains.map(({ caip2 }) => caip2)) ?? [];
  }

  #options(): Promise<CheckoutOptions> {
    const accounts = this.#accounts();
    if (accounts.length === 0) return Promise.resolve({ options: [], unavailable: [] });
    const { api, id } = this.#parts;
    return api.checkout.options.query({ id, accounts: accounts.slice(0, 100) });
  }

  #keep(session: WalletSession): void {
    this.#leaveSession();
    this.#session = session;
    this.#leaveSession = session.onChange((change) => {
      const step = this.#parts.step();
      const { at } = step;
      // A wallet that leaves while it sends may have sent: what it answers, if anything, decides.
      if (change === "gone" && isSending(step)) return this.#parts.dispatch({ type: "unsure" });
      if (change === "gone") {
        this.#run += at === "handing_in" ? 0 : 1;
        this.#parts.dispatch({ type: "wallet_gone" });
      } else if (change === "accounts") {
        this.#hasMoved = true;
        if (at === "choosing" || at === "finding") this.#lookAgain();
      }
    });
  }

  async #actions(option: CheckoutOption, run: number): Promise<WalletRpcAction[] | null> {
    const { api, id, dispatch } = this.#parts;
    try {
      const { actions } = await api.checkout.fetch.mutate({ id, optionId: option.id });
      return actions;
    } catch (error) {
      if (run === this.#run && !(await this.#mend(error)))
        dispatch({ type: "refused", why: "server", switching: false });
      return null;
    }
  }

  async #execute(
    option: CheckoutOption,
    { action, index, total }: { action: WalletRpcAction; index: number; total: number },
    run: number,
  ): Promise<{ value: unknown } | null> {
    const { dispatch } = this.#parts;
    const session = this.#session;
    if (session === null) {
      dispatch({ type: "wallet_gone" });
      return null;
    }
    const step = option.steps[index];
    const ask = { kind: step?.kind ?? ("sign" as const), to: targetOf(step, action) };
    let switching = false;
    try {
      const { chain_id: chain } = action.data;
      const present = await session.chain();
      switching = present !== null && present !== chain;
      if (run !== this.#run || !this.#parts.isOpen()) return null;
      dispatch({ type: "ask", index, ask, switching, shown: true });
      if (switching) {
        await session.switchTo(chain);
        switching = false;
        if (run !== this.#run || !this.#parts.isOpen()) return null;
        dispatch({ type: "ask", index, ask, switching, shown: true });
      }
      const value = await session.execute(action.data, { account: option.account, index, total });
      const lack = lackOf(action.data.method, value);
      if (lack === null) return { value };
      if (run !== this.#run) return null;
      if (lack === "signature") dispatch({ type: "refused", why: lack, switching });
      else dispatch(ask.kind === "send" ? { type: "unsure" } : UNCLEAR);
      return null;
    } catch (error) {
      if (run !== this.#run) return null;
      const why = failureOf(error);
      const maySent = why === "unknown" && ask.kind === "send" && !switching;
      dispatch(maySent ? { type: "unsure" } : { type: "refused", why, switching });
      return null;
    }
  }

  async #between(
    index: number,
    { data }: WalletRpcAction,
    tx: unknown,
    run: number,
  ): Promise<void> {
    const explorer = this.#parts.chains.find(({ caip2 }) => caip2 === data.chain_id)?.explorerUrl;
    const txUrl = explorer == null ? null : `${explorer.replace(/\/+$/, "")}/tx/${String(tx)}`;
    if (run !== this.#run) return;
    this.#parts.dispatch({ type: "approved", index, txUrl });
    await new Promise<void>((resolve) => {
      this.#goOn = resolve;
      setTimeout(resolve, BETWEEN_STEPS_MS);
    });
  }

  async #handIn(
    option: CheckoutOption,
    results: Result[],
    run: number,
    again = false,
  ): Promise<void> {
    const { dispatch } = this.#parts;
    const isSent = isSentByWallet(option);
    if (isSent) tabMemory.write(this.#sentKey, JSON.stringify({ optionId: option.id, results }));
    dispatch({ type: "hand_in" });
    for (let failures = 0; run === this.#run; failures++) {
      try {
        const view = await this.#confirm(option.id, results);
        if (run !== this.#run) return;
        if (isSent && tookNothing(view.stage)) return dispatch({ type: "sent_late" });
        return dispatch({ type: "handed_in" });
      } catch (error) {
        const refusal = refusalIn(error);
        if (refusal !== null && !refusal.retryable) {
          if (!isSent) return this.#afterRejection(option, error, run, again);
          // A transfer that was sent is never asked for twice: it is found, or handed in again.
          if (CLOSED.has(refusal.code)) return dispatch({ type: "sent_late" });
          if (!judge(this.#parts, error)) dispatch({ type: "unsure" });
          return;
        }
        await pause(backoff(failures));
      }
    }
  }

  /** A refused signature is not handed in again. One that only came too late is asked for once more, if the amount is the same. */
  async #afterRejection(
    option: CheckoutOption,
    error: unknown,
    run: number,
    again: boolean,
  ): Promise<void> {
    const { dispatch } = this.#parts;
    this.#done.results = keptAfterRefusal(this.#done.results, refusalIn(error)?.issues ?? []);
    const why = rejectionIn(error);
    if (why !== "lapsed" || again) {
      if (!(await this.#mend(error, why)))
        dispatch({ type: "refused", why: why ?? "server", switching: false });
      return;
    }
    try {
      const found = await this.#options();
      if (run !== this.#run) return;
      const now = sameWay(found.options, option);
      const isSame = now?.money.value === option.money.value;
      if (now === undefined || !isSame || now.needsData || needsApproval(now))
        return dispatch({ type: "requoted", found, why });
      dispatch({ type: "again", found, option: now });
      await this.#payIn(now, run, true);
    } catch (failed) {
      if (!judge(this.#parts, failed)) dispatch({ type: "refused", why, switching: false });
    }
  }

  async #confirm(optionId: string, results: Result[]): Promise<CheckoutView> {
    const { api, id, see, lock } = this.#parts;
    const view = await api.checkout.confirm.mutate({ id, optionId, results });
    // Of a closed payment nobody but this page may know yet that money was sent.
    if (!tookNothing(view.stage)) tabMemory.forget(this.#sentKey);
    lock.release();
    see(view);
    return view;
  }

  /** As `judge`, and where an amount or a form is no longer good, what is good now. */
  async #mend(error: unknown, why?: Rejection): Promise<boolean> {
    if (judge(this.#parts, error)) return true;
    const code = refusalIn(error)?.code;
    if (code !== "quote_expired" && code !== "params_validation") return false;
    try {
      this.#parts.dispatch({ type: "requoted", found: await this.#options(), why });
      return true;
    } catch (failed) {
      return judge(this.#parts, failed);
    }
  }
}
