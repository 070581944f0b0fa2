import { AppError } from "#server/platform/app-error.ts";
import type { SignatureCheck } from "#server/ports/chain.ts";

const REVERT_MESSAGES: Record<string, string> = {
  insufficient_balance: "insufficient funds for this option",
  insufficient_allowance: "the allowance for this option is missing: approve it first",
  bad_signature: "the signature does not verify",
  denied: "the token refuses this transfer",
  other: "the transfer would not go through",
};

/** A used nonce is no reason to refuse: the transfer may be on chain already, and only the chain can tell. */
export function requireSound(check: SignatureCheck): void {
  if (check.kind === "valid") return;
  if (check.kind === "would_revert" && check.reason === "nonce_used") return;
  if (check.kind === "would_revert" && check.reason === "expired")
    throw new AppError("quote_expired", "The authorization has expired: ask for the options again");
  const message =
    check.kind === "invalid" ? "the signature does not verify" : REVERT_MESSAGES[check.reason];
  throw new AppError("params_validation", `Validation error: ${message}`, {
    status: 422,
    detail: check.kind === "invalid" ? check.reason : check.detail,
    issues: [{ path: "results", field: "results", message: message ?? "" }],
  });
}
