/** Why a form can never be handed in by its link. */
export type Refusal = "link" | "expired" | "state" | "other";

const REFUSALS: Readonly<Record<string, Refusal>> = {
  forbidden: "link",
  payment_not_found: "link",
  payment_expired: "expired",
  invalid_state: "state",
};

/** What a code of the server means for a form. */
export const refusalFor = (code: string): Refusal => REFUSALS[code] ?? "other";
