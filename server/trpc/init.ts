import { initTRPC } from "@trpc/server";
import { type Container, container } from "#server/container.ts";
import { type Counted, countPagePayment } from "#server/http/limits.ts";
import type { RequestTrace } from "#server/http/log-request.ts";
import { readPaymentId } from "#server/http/payment-id.ts";
import type { Caller, Services } from "#server/ports/services.ts";
import type { Hangup } from "#server/ports/wakeup.ts";
import { errorData, refusalIn } from "./errors.ts";

/** What every procedure gets of its request. */
export type ApiContext = {
  parts: Container;
  services: Services;
  /** Under which its log line and its refusal are found. */
  trace: RequestTrace;
  counted: Counted;
  hangup: Hangup;
  /** Told once the answer is held: from then on the request counts as waiting and not as work. */
  onHold: () => void;
};

const t = initTRPC.context<ApiContext>().create({
  isDev: false,
  errorFormatter({ shape, error, ctx }) {
    const { isOutage } = ctx?.parts ?? container();
    const refusal = refusalIn(error, isOutage);
    return {
      code: shape.code,
      message: refusal.message,
      data: errorData(refusal, ctx?.trace.requestId ?? ""),
    };
  },
});

/** Makes a router of procedures. */
export const { router } = t;

/** A call that needs no key; what it may reach is in its input. */
export const open = t.procedure;

/** Who a page calls as: somebody who holds the id of one payment reaches this payment and nothing else. */
export const pageCaller = (parts: Container, paymentId: string): Caller => ({
  kind: "gateway",
  environment: parts.env.FLORIN_MODE === "live" ? "live" : "test",
  partnerId: "",
  reach: { paymentId },
  keyId: "checkout",
});

/** A call about one payment. */
export type OfPayment = { id: string; caller: Caller; services: Services; parts: Container };

/** Checks and counts the payment a call is about, and makes its caller; ids that cannot be one are payments that do not exist. */
export async function ofPayment(
  ctx: ApiContext,
  id: string,
  call: "plain" | "options",
): Promise<OfPayment> {
  const paymentId = readPaymentId(id, null);
  ctx.trace.paymentId = paymentId;
  await countPagePayment(ctx.parts, ctx.counted, paymentId, call);
  const { parts, services } = ctx;
  return { id: paymentId, caller: pageCaller(parts, paymentId), services, parts };
}
