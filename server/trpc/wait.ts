import type { CheckoutView } from "#server/contract/checkout.ts";
import { hold } from "#server/http/hold.ts";
import { readCheckout } from "#server/usecases/read-checkout.ts";
import type { ApiContext, OfPayment } from "./init.ts";
import { checkoutView } from "./views.ts";

/**
 * A change of the payment itself wakes a held page at once. Transactions, blocks and the time that passes do not: for them the
 * payment is read again this often, in one statement for all pages that wait.
 */
const LOOK_AGAIN_MS = { processing: 1_000, other: 3_000 } as const;

/** Holds until the payment changes or `waitMs` is over; false: too many are held already, or nobody is there any more. */
const held = (ctx: ApiContext, poll: Parameters<typeof hold>[1]): Promise<boolean> =>
  new Promise((resolve) => {
    const isHeld = hold(ctx.parts, poll, ctx.hangup, resolve);
    if (!isHeld) resolve(false);
    else ctx.onHold();
  });

/** The payment's view as soon as it is not `version`; as it is when the time is over, or when no more calls can be held. */
export async function waitForView(
  ctx: ApiContext,
  { id, caller, services, parts }: OfPayment,
  { version, waitMs }: { version: string; waitMs: number },
): Promise<CheckoutView> {
  const until = performance.now() + waitMs;
  for (;;) {
    const checkout = await readCheckout(services, caller, id);
    const view = checkoutView(parts, checkout);
    const left = until - performance.now();
    if (view.version !== version || left <= 0) return view;
    const { payment } = checkout;
    const every = LOOK_AGAIN_MS[payment.status === "processing" ? "processing" : "other"];
    const poll = {
      // Pages have no keys: each payment's pages count for themselves.
      keyId: `checkout ${id}`,
      paymentId: id,
      version: payment.version,
      waitMs: Math.min(left, every),
    };
    if (!(await held(ctx, poll))) return view;
  }
}
