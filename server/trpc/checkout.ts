import type { CheckoutChain, CheckoutOptions, CheckoutView } from "#server/contract/checkout.ts";
import type { CollectForm } from "#server/contract/collect.ts";
import type { WalletRpcAction } from "#server/domain/option/actions.ts";
import { cancelForBuyer } from "#server/usecases/cancel-payment.ts";
import { collectFormFor } from "#server/usecases/collect-form.ts";
import { confirmPayment } from "#server/usecases/confirm-payment.ts";
import { fetchActions } from "#server/usecases/fetch-actions.ts";
import { listOptions } from "#server/usecases/list-options.ts";
import { readCheckout } from "#server/usecases/read-checkout.ts";
import { findPayment } from "#server/usecases/read-payment.ts";
import { submitCollected } from "#server/usecases/submit-collected.ts";
import { shownForm } from "./form-view.ts";
import { type OfPayment, ofPayment, open, router } from "./init.ts";
import { INPUTS, input } from "./inputs.ts";
import { shownChains, shownOptions } from "./option-views.ts";
import { checkoutView } from "./views.ts";
import { waitForView } from "./wait.ts";

const viewOf = async ({ parts, services, caller, id }: OfPayment): Promise<CheckoutView> =>
  checkoutView(parts, await readCheckout(services, caller, id));

/** What the checkout of one payment does; its id is the right to do it. */
export const checkout = router({
  /** The payment as its page shows it. */
  view: open.input(input(INPUTS.payment)).query(async ({ ctx, input }): Promise<CheckoutView> => {
    return viewOf(await ofPayment(ctx, input.id, "plain"));
  }),

  /** The same, as soon as it is another one than `version`, or after `maxMs`. */
  wait: open.input(input(INPUTS.wait)).query(async ({ ctx, input }): Promise<CheckoutView> => {
    const of = await ofPayment(ctx, input.id, "plain");
    return waitForView(ctx, of, { version: input.version, waitMs: input.maxMs });
  }),

  /** The networks it can be paid on. */
  chains: open
    .input(input(INPUTS.payment))
    .query(async ({ ctx, input }): Promise<CheckoutChain[]> => {
      const { id, caller, services } = await ofPayment(ctx, input.id, "plain");
      return shownChains(ctx.parts, await findPayment(services, caller, id));
    }),

  /** What the given accounts can pay with, and why not with the rest. */
  options: open
    .input(input(INPUTS.options))
    .query(async ({ ctx, input }): Promise<CheckoutOptions> => {
      const { id, caller, services } = await ofPayment(ctx, input.id, "options");
      const payment = await findPayment(services, caller, id);
      const asked = { accounts: input.accounts, includePaymentInfo: false };
      return shownOptions(ctx.parts, payment, await listOptions(services, caller, id, asked));
    }),

  /** The calls of an option, in order, one for each of its steps. */
  fetch: open
    .input(input(INPUTS.fetch))
    .mutation(async ({ ctx, input }): Promise<{ actions: WalletRpcAction[] }> => {
      const { id, caller, services } = await ofPayment(ctx, input.id, "plain");
      const asked = { optionId: input.optionId, data: "" };
      return { actions: await fetchActions(services, caller, id, asked) };
    }),

  /** Hands in what the wallet gave for each call, in order. Can be repeated. */
  confirm: open
    .input(input(INPUTS.confirm))
    .mutation(async ({ ctx, input }): Promise<CheckoutView> => {
      const of = await ofPayment(ctx, input.id, "plain");
      const { optionId, results } = input;
      const given = { optionId, results, collectedData: undefined };
      await confirmPayment(of.services, of.caller, of.id, given);
      return viewOf(of);
    }),

  /** The buyer does not want to pay. */
  cancel: open
    .input(input(INPUTS.payment))
    .mutation(async ({ ctx, input }): Promise<CheckoutView> => {
      const of = await ofPayment(ctx, input.id, "plain");
      await findPayment(of.services, of.caller, of.id);
      await cancelForBuyer(of.services, of.id);
      return viewOf(of);
    }),

  /** The form an account owes; null: it owes none. */
  collectForm: open
    .input(input(INPUTS.account))
    .query(async ({ ctx, input }): Promise<CollectForm | null> => {
      const { id, caller, services } = await ofPayment(ctx, input.id, "plain");
      const form = await collectFormFor(services, caller, id, input.account);
      return form === null ? null : shownForm(ctx.parts, form);
    }),

  /** Hands in the form with the token that came with it. */
  submitCollected: open
    .input(input(INPUTS.submit))
    .mutation(async ({ ctx, input }): Promise<{ stored: true }> => {
      const { id, services } = await ofPayment(ctx, input.pid, "plain");
      const { accounts, t: token, data } = input;
      await submitCollected(services, { paymentId: id, accounts, token, data });
      return { stored: true };
    }),
});
