import type { Account } from "#server/domain/asset/caip.ts";
import { AppError } from "#server/platform/app-error.ts";
import type { Services } from "#server/ports/services.ts";

/** Lets a clear account through; refuses a listed one without saying what matched, and an unknown answer as retryable. */
export async function requireClear(services: Services, { chain, address }: Account): Promise<void> {
  const verdict = await services.screening.screen(chain, address);
  if (verdict === "clear") return;
  if (verdict === "listed")
    throw new AppError("sanctioned_user", "This payment is not available", {
      detail: "an account is listed",
    });
  throw new AppError("internal_error", "The payment cannot be checked right now: try again", {
    status: 503,
    retryAfterS: 2,
    detail: "screening is unavailable",
  });
}
