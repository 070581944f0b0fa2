import type { Container } from "#server/container.ts";
import { AppError } from "#server/platform/app-error.ts";

/**
 * Counts a request as under way; throws 503 instead when too many are worked on: a prompt refusal that is tried again beats
 * an answer that comes after its caller gave up.
 */
export function enter({ env, underWay, wakeup }: Container): void {
  const worked = underWay.count - wakeup.held();
  if (worked >= env.FLORIN_MAX_IN_FLIGHT)
    throw new AppError("internal_error", "The service is busy: try again", {
      status: 503,
      retryAfterS: 1,
      detail: `${worked} requests are worked on`,
    });
  underWay.count += 1;
}

/** Ends what `enter` began. */
export function leave({ underWay }: Container): void {
  underWay.count -= 1;
}
