import type { PaymentStatus } from "./state.ts";

/** The words of the two merchant endpoints, where `cancelled` does not exist. */
export type MerchantStatus = "pending" | "processing" | "succeeded" | "failed" | "expired";

const MERCHANT_STATUS: Record<PaymentStatus, MerchantStatus> = {
  requires_action: "pending",
  processing: "processing",
  succeeded: "succeeded",
  failed: "failed",
  expired: "expired",
  cancelled: "failed",
};

/** The status as `/v1/merchant/payment` shows it to a caller that names no API version. */
export const merchantStatus = (status: PaymentStatus): MerchantStatus => MERCHANT_STATUS[status];
