import { container } from "#server/container.ts";
import type { CheckoutChain, CheckoutView } from "#server/contract/checkout.ts";
import { countPagePayment } from "#server/http/limits.ts";
import { readPaymentId } from "#server/http/payment-id.ts";
import { AppError } from "#server/platform/app-error.ts";
import { readCheckout } from "#server/usecases/read-checkout.ts";
import { pageCaller } from "./init.ts";
import { shownChains } from "./option-views.ts";
import { checkoutView } from "./views.ts";

/** What a payment's address opens. `link` is the address itself, for codes and other devices; `busy`: not now, perhaps later. */
export type OpenedCheckout =
  | { kind: "open"; view: CheckoutView; chains: CheckoutChain[]; link: string }
  | { kind: "unknown" }
  | { kind: "busy"; status: 429 | 503 };

/** Opens a payment for a page that is drawn on the server; throws only on what is our own mistake. */
export async function openCheckout(written: string): Promise<OpenedCheckout> {
  const parts = container();
  try {
    const id = readPaymentId(written, null);
    await countPagePayment(parts, { policy: "", closest: null }, id, "plain");
    const checkout = await readCheckout(parts.services, pageCaller(parts, id), id);
    return {
      kind: "open",
      view: checkoutView(parts, checkout),
      chains: shownChains(parts, checkout.payment),
      link: `${parts.env.checkoutUrl.replace(/\/+$/, "")}/${id}`,
    };
  } catch (error) {
    if (error instanceof AppError && error.code === "payment_not_found") return { kind: "unknown" };
    if (error instanceof AppError && error.code === "rate_limited")
      return { kind: "busy", status: 429 };
    if (parts.isOutage(error)) return { kind: "busy", status: 503 };
    throw error;
  }
}
