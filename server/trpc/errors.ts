import type { TRPCError } from "@trpc/server";
import type { ApiErrorData } from "#server/contract/checkout.ts";
import { refusalOf, statusOf } from "#server/http/error-answer.ts";
import { AppError } from "#server/platform/app-error.ts";

/** Refusals that tRPC makes itself, in the words of every other one. */
const OF_TRPC: Partial<Record<TRPCError["code"], () => AppError>> = {
  NOT_FOUND: () => new AppError("not_found", "There is no such procedure"),
  BAD_REQUEST: () => new AppError("invalid_params", "The request cannot be read"),
  PARSE_ERROR: () => new AppError("invalid_params", "The request cannot be read"),
  METHOD_NOT_SUPPORTED: () =>
    new AppError("invalid_params", "This path takes POST", { status: 405 }),
  UNSUPPORTED_MEDIA_TYPE: () =>
    new AppError("invalid_params", "Send the body as Content-Type: application/json", {
      status: 415,
    }),
};

/** What the caller is told of anything that was thrown on the way. */
export function refusalIn(error: TRPCError, isOutage: (error: unknown) => boolean): AppError {
  const { cause } = error;
  if (cause instanceof AppError) return cause;
  const own = cause === undefined ? OF_TRPC[error.code] : undefined;
  return own === undefined ? refusalOf(cause ?? error, isOutage) : own();
}

/** Codes after which the same call, unchanged, may be answered. */
const isRetryable = (status: number): boolean => status === 429 || status >= 500;

/** A refusal as the pages get it. */
export function errorData(refusal: AppError, requestId: string): ApiErrorData {
  const status = statusOf(refusal);
  return {
    code: refusal.code,
    status,
    requestId,
    issues: refusal.issues ?? [],
    retryable: isRetryable(status),
    retryAfterS: refusal.retryAfterS ?? (isRetryable(status) ? 1 : null),
  };
}
