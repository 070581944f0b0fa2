import { ERROR_STATUS } from "#server/contract/errors.ts";
import { AppError } from "#server/platform/app-error.ts";
import type { Answer } from "./answer.ts";

/** Who reads a refusal: merchant-side bodies repeat it where deployed terminals look. */
export type Audience = "merchant" | "gateway";

const OUTAGE_RETRY_S = 1;

/** What the caller is told about an error; a bug and an outage say nothing of themselves. */
export function refusalOf(error: unknown, isOutage: (error: unknown) => boolean): AppError {
  if (error instanceof AppError) return error;
  if (isOutage(error))
    return new AppError("internal_error", "The service is briefly unavailable: try again", {
      status: 503,
      retryAfterS: OUTAGE_RETRY_S,
    });
  return new AppError("internal_error", "Internal error");
}

/** The status a refusal is answered with. */
export const statusOf = (refusal: AppError): number => refusal.status ?? ERROR_STATUS[refusal.code];

/** The body and headers of a refusal. */
export function refuse(refusal: AppError, requestId: string, audience: Audience): Answer {
  const { code, message, issues } = refusal;
  const body = {
    code,
    message,
    requestId,
    ...(issues === undefined ? {} : { issues }),
    ...(audience === "merchant" ? { status: "error", error: { code, message } } : {}),
  };
  const status = statusOf(refusal);
  const retryAfterS = refusal.retryAfterS ?? (status === 429 || status === 503 ? 1 : undefined);
  return {
    status,
    body: JSON.stringify(body),
    headers: retryAfterS === undefined ? {} : { "Retry-After": String(retryAfterS) },
  };
}

/** The answer to anything thrown, and the code it was given. */
export function errorAnswer(
  error: unknown,
  requestId: string,
  audience: Audience,
  isOutage: (error: unknown) => boolean,
): Answer & { code: string } {
  const refusal = refusalOf(error, isOutage);
  return { ...refuse(refusal, requestId, audience), code: refusal.code };
}
