/** One field of the form as a page shows it; `text` is checked by `pattern` and `maxLength`. */
export type CollectField = {
  name: string;
  title: string;
  kind: "text" | "date" | "country" | "consent";
  maxLength: number | null;
};

/** The form a buyer fills in before paying: what is asked, why, and how long it is kept. */
export type CollectForm = {
  paymentId: string;
  /** CAIP-10, canonical; what is given counts for these. */
  accounts: string[];
  /** The right to hand in this form, for a while; it reads nothing back. */
  token: string;
  /** Unix seconds after which the token is refused. */
  tokenExpiresAt: number;
  merchant: { name: string; iconUrl: string | null; accent: string | null };
  amount: { value: string; decimals: number; display: string; currency: string };
  /** JSON Schema 2020-12 of what `data` must be. */
  schema: Record<string, unknown>;
  required: CollectField[];
  /** One of these groups is required, whole. */
  oneOf: CollectField[][];
  /** When the shop asks: for every payment, or from an amount on. */
  why: "always" | "above";
  /** Days after which it is deleted. */
  keptDays: number;
  /** Everything was handed in before for this payment: nothing needs to be given again. */
  given: boolean;
  sandbox: boolean;
};
