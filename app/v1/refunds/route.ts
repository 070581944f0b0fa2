import { createRefund as creation, listRefunds as list } from "#server/contract/refunds.ts";
import { defineIdempotentRoute, defineRoute } from "#server/http/define-route.ts";
import { refundView } from "#server/http/refund-view.ts";
import { createRefund } from "#server/usecases/create-refund.ts";
import { listRefunds } from "#server/usecases/read-refunds.ts";

/** POST /v1/refunds: records a refund, or sends one to the account that paid. */
export const POST = defineIdempotentRoute(
  creation,
  async ({ body, caller, services, claim, render }) =>
    createRefund(
      services,
      caller,
      { ...body, amount: body.amount === null ? null : BigInt(body.amount) },
      claim,
      (made) => render(refundView(services, made)),
    ),
);

/** GET /v1/refunds: the merchant's refunds, newest first. */
export const GET = defineRoute(list, async ({ query, caller, services }) => {
  const { refunds, nextCursor } = await listRefunds(services, caller, {
    paymentId: query.paymentId ?? null,
    cursor: query.cursor ?? null,
    limit: query.limit,
  });
  return { refunds: refunds.map((one) => refundView(services, one)), nextCursor };
});
