import type { ErrorCode } from "#server/domain/error-code.ts";

/** What a code means to whoever gets it, and a message such as comes with it. */
type ErrorText = { meaning: string; message: string };

/** What a code means where a refusal gives it another status than its own. */
const OVERRIDDEN: Readonly<Record<string, string>> = {
  "413 invalid_params": "The body is too large.",
  "415 invalid_params": "The body is not JSON, or is compressed.",
  "422 params_validation":
    "An account is malformed, or a signature does not fit. The payment stays open: try again.",
  "500 internal_error":
    "Something failed here. Whether the call took effect is unknown: repeat it.",
  "503 internal_error": "The service is unavailable for a moment: repeat the call.",
};

/** Every code in words, for people; programs branch on the code alone. */
export const ERROR_TEXTS: Record<ErrorCode, ErrorText> = {
  invalid_params: {
    meaning:
      "The request cannot be read: not JSON, a missing member, a wrong type, a repeated or malformed query parameter. `issues` names the members.",
    message: "Validation error: amount is missing",
  },
  params_validation: {
    meaning: "The request is well formed but breaks a rule. `issues` names the members.",
    message: "Validation error: Amount must be at least 10 to cover fees",
  },
  conflicting_auth_headers: {
    meaning: "Both Api-Key and App-Id were sent.",
    message: "Send either Api-Key or App-Id, not both",
  },
  header_not_ascii: {
    meaning: "A header holds something other than printable ASCII.",
    message: "The header api-key must be printable ASCII",
  },
  invalid_api_version: {
    meaning: "The version header is not a date such as 2026-02-18.",
    message: "The version header must look like 2026-02-18 or 2026-02-19.preview",
  },
  unknown_api_version: {
    meaning: "This server does not speak the version asked for.",
    message: "This API version does not exist",
  },
  api_version_downgrade: {
    meaning: "The version asked for is older than the one the partner is pinned to.",
    message: "This account is pinned to 2026-02-18 or newer",
  },
  invalid_state: {
    meaning: "What is asked for cannot be done in the present state, which the message names.",
    message: "The payment is processing",
  },
  payment_not_succeeded: {
    meaning: "Only a payment that succeeded can be refunded.",
    message: "The payment has not succeeded",
  },
  missing_api_key: {
    meaning: "The Api-Key header is missing.",
    message: "The Api-Key header is missing",
  },
  missing_merchant_api_key: {
    meaning: "The Api-Key header is missing.",
    message: "The Api-Key header is missing",
  },
  missing_merchant_id: {
    meaning: "The Merchant-Id header is missing.",
    message: "The Merchant-Id header is missing",
  },
  missing_auth_headers: {
    meaning: "Neither Api-Key nor App-Id was sent.",
    message: "Send Api-Key, or App-Id together with Client-Id",
  },
  missing_app_id: {
    meaning: "Client-Id was sent without App-Id.",
    message: "The App-Id header is missing",
  },
  missing_client_id: {
    meaning: "App-Id was sent without Client-Id.",
    message: "App-Id needs a Client-Id header",
  },
  invalid_app_id: {
    meaning: "There is no such app.",
    message: "The App-Id is not valid",
  },
  invalid_api_key: {
    meaning: "The key is unknown, malformed or revoked; which of these is not told.",
    message: "The API key is not valid",
  },
  unauthorized: {
    meaning: "The caller is not known.",
    message: "Unauthorized",
  },
  forbidden: {
    meaning: "The key is valid but lacks the right to call this.",
    message: "This key may not be used on the merchant API",
  },
  not_sandbox_api_key: {
    meaning: "A live key was sent to a server, or for an operation, that has test money only.",
    message: "This server takes test keys only",
  },
  payment_not_found: {
    meaning: "There is no such payment, or it is another merchant's.",
    message: "Payment not found",
  },
  merchant_not_found: {
    meaning: "There is no such merchant, or it is another partner's.",
    message: "There is no such merchant",
  },
  api_key_not_found: { meaning: "There is no such key.", message: "There is no such key" },
  partner_not_found: { meaning: "There is no such partner.", message: "There is no such partner" },
  customer_not_found: {
    meaning: "There is no such customer.",
    message: "There is no such customer",
  },
  wallet_not_found: { meaning: "There is no such wallet.", message: "There is no such wallet" },
  executor_not_found: {
    meaning: "There is no such executor.",
    message: "There is no such executor",
  },
  not_found: {
    meaning: "There is no such thing, or it is somebody else's.",
    message: "There is nothing at this path",
  },
  quote_expired: {
    meaning:
      "The option's price does not hold any more. Ask for options again; the payment is still open.",
    message: "The quote has expired: ask for options again",
  },
  idempotency_conflict: {
    meaning:
      "The Idempotency-Key was used with another body, or its first call is still running (then with Retry-After).",
    message: "The Idempotency-Key was used with another body",
  },
  merchant_exists: {
    meaning: "There is such a merchant already.",
    message: "There is such a merchant already",
  },
  already_refunded: {
    meaning: "What is left of the payment is less than the refund asked for.",
    message: "The payment is already refunded",
  },
  settlement_asset_conflict: {
    meaning: "The merchant has a destination for this asset already.",
    message: "There is a destination for this asset already",
  },
  payment_expired: {
    meaning: "The payment's time is over. The merchant has to create a new one.",
    message: "The payment has expired",
  },
  rate_limited: {
    meaning: "Too many calls. Wait for the seconds in Retry-After.",
    message: "Too many requests: try again later",
  },
  sanctioned_user: {
    meaning: "One of the accounts may not be served. The payment is unchanged.",
    message: "This account cannot be served",
  },
  internal_error: {
    meaning:
      "Something failed here, or (503) is unavailable for a moment. Whether the call took effect is unknown: repeat it.",
    message: "Internal error",
  },
};

/** What a code means under a status. */
export const meaningOf = (code: ErrorCode, status: number): string =>
  OVERRIDDEN[`${status} ${code}`] ?? ERROR_TEXTS[code].meaning;
