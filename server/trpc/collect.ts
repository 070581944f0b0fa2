import type { CollectForm } from "#server/contract/collect.ts";
import { openCollectForm } from "#server/usecases/collect-form.ts";
import { submitCollected } from "#server/usecases/submit-collected.ts";
import { shownForm } from "./form-view.ts";
import { ofPayment, open, router } from "./init.ts";
import { INPUTS, input } from "./inputs.ts";

/** What the page of the form does; its link is the right to do it. */
export const collect = router({
  /** The form its link is for. */
  open: open.input(input(INPUTS.link)).query(async ({ ctx, input }): Promise<CollectForm> => {
    const { id, services } = await ofPayment(ctx, input.pid, "plain");
    const link = { paymentId: id, accounts: input.accounts, token: input.t };
    return shownForm(ctx.parts, await openCollectForm(services, link));
  }),

  /** Stores the form; nothing of it comes back. */
  submit: open
    .input(input(INPUTS.submit))
    .mutation(async ({ ctx, input }): Promise<{ stored: true }> => {
      const { id, services } = await ofPayment(ctx, input.pid, "plain");
      const { accounts, t: token, data } = input;
      await submitCollected(services, { paymentId: id, accounts, token, data });
      return { stored: true };
    }),
});
