/** A backend with one merchant's key. */
export const MERCHANT = {
  kind: "merchant",
  environment: "test",
  partnerId: "par_1",
  merchantId: "mer_1",
  keyId: "key_1",
} as const;

/** A wallet, for which every payment of its environment is to be seen. */
export const WALLET = {
  kind: "gateway",
  environment: "test",
  partnerId: "par_1",
  keyId: "key_1",
  reach: "all",
} as const;
