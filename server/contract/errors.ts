import { z } from "zod";
import { ERROR_CODES, type ErrorCode } from "#server/domain/error-code.ts";

/**
 * The only place where a code meets a status. A refusal may override it where one code has several
 * (413, 415 and 422 for bad input, 503 for an outage).
 */
export const ERROR_STATUS: Record<ErrorCode, number> = {
  invalid_params: 400,
  params_validation: 400,
  conflicting_auth_headers: 400,
  header_not_ascii: 400,
  invalid_api_version: 400,
  unknown_api_version: 400,
  api_version_downgrade: 400,
  invalid_state: 400,
  payment_not_succeeded: 400,
  missing_api_key: 401,
  missing_merchant_api_key: 401,
  missing_merchant_id: 401,
  missing_auth_headers: 401,
  missing_app_id: 401,
  missing_client_id: 401,
  invalid_app_id: 401,
  invalid_api_key: 401,
  unauthorized: 401,
  forbidden: 403,
  not_sandbox_api_key: 403,
  payment_not_found: 404,
  merchant_not_found: 404,
  api_key_not_found: 404,
  partner_not_found: 404,
  customer_not_found: 404,
  wallet_not_found: 404,
  executor_not_found: 404,
  not_found: 404,
  quote_expired: 409,
  idempotency_conflict: 409,
  merchant_exists: 409,
  already_refunded: 409,
  settlement_asset_conflict: 409,
  payment_expired: 410,
  rate_limited: 429,
  sanctioned_user: 451,
  internal_error: 500,
};

const issue = z.object({ path: z.string(), field: z.string(), message: z.string() });

/** Every refusal. `issues` names the members that were wrong; gateway paths have these four members only. */
export const errorResponse = z.object({
  code: z.enum(ERROR_CODES),
  message: z.string(),
  requestId: z.string(),
  issues: z.array(issue).optional(),
});

/** As `errorResponse`, with the same values once more where deployed terminals look for them. */
export const merchantErrorResponse = errorResponse.extend({
  status: z.literal("error"),
  error: z.object({ code: z.enum(ERROR_CODES), message: z.string() }),
});
