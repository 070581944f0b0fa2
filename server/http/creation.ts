import type { z } from "zod";
import type { createdPayment, paymentRequest } from "#server/contract/merchant.ts";
import type { Services } from "#server/ports/services.ts";
import { pollingOf } from "./views.ts";

/** What a creation's body asks the use case for. */
export const creationInput = (body: z.output<typeof paymentRequest>) => ({
  unit: body.amount.unit,
  value: body.amount.value,
  referenceId: body.referenceId,
  successUrl: body.checkout?.successUrl,
  errorUrl: body.checkout?.errorUrl,
  expiresAt: body.expiresAt,
  metadata: body.metadata,
  description: body.description,
});

/** A payment just made, as both creation paths answer it. */
export const creationView = (
  services: Services,
  made: { id: string; status: "requires_action"; expiresAt: number },
): z.input<typeof createdPayment> => ({
  paymentId: made.id,
  gatewayUrl: `${services.env.checkoutUrl}/${made.id}`,
  status: made.status,
  expiresAt: made.expiresAt,
  ...pollingOf(made.status),
});
