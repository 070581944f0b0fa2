import { createHmac, timingSafeEqual } from "node:crypto";
import { AppError } from "#server/platform/app-error.ts";
import type { PaymentOption } from "#server/ports/store.ts";

type Offered = Pick<PaymentOption, "id" | "paymentId" | "expiresAt">;

/** The opaque string of an option's `build` action: a keyed digest over payment, option and end, so that nothing of it can be chosen. */
export const buildData = (secret: string, { id, paymentId, expiresAt }: Offered): string =>
  createHmac("sha256", secret)
    .update(JSON.stringify(["florin:build:1", paymentId, id, expiresAt]))
    .digest("base64url");

/** Refuses a string that was not issued for exactly this option. */
export function requireBuildData(secret: string, option: Offered, data: string): void {
  const issued = Buffer.from(buildData(secret, option));
  const given = Buffer.from(data);
  if (issued.length !== given.length || !timingSafeEqual(issued, given))
    throw new AppError(
      "params_validation",
      "Validation error: data was not issued for this option",
      { issues: [{ path: "data", field: "data", message: "was not issued for this option" }] },
    );
}
