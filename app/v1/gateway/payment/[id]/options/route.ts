import { listPaymentOptions as endpoint } from "#server/contract/gateway.ts";
import { defineRoute } from "#server/http/define-route.ts";
import { preflight } from "#server/http/preflight.ts";
import { descriptionView, tokenView } from "#server/http/views.ts";
import { listOptions } from "#server/usecases/list-options.ts";

/** POST /v1/gateway/payment/{id}/options: what the given accounts can pay with. */
export const POST = defineRoute(endpoint, async ({ paymentId, caller, services, query, body }) => {
  const { options, info, collectData } = await listOptions(services, caller, paymentId, {
    accounts: body.accounts,
    includePaymentInfo: query.includePaymentInfo ?? false,
  });
  return {
    options: options.map((option) => ({
      id: option.id,
      account: option.account,
      amount: tokenView(services, option.asset, option.amount),
      etaS: option.etaS,
      expiresAt: option.expiresAt,
      actions: option.actions,
      collectData: option.collectData,
    })),
    info: info === null ? null : descriptionView(info),
    collectData,
  };
});

export const OPTIONS = preflight;
