import { NEWEST_STABLE } from "#server/contract/version.ts";
import { AppError } from "#server/platform/app-error.ts";
import { newRequestId, respond, withHeaders } from "./answer.ts";
import { refuse } from "./error-answer.ts";

/** Refuses what no endpoint answers, in the shape of every other refusal. */
function notServed(
  refusal: AppError,
  path: string,
  headers: Record<string, string> = {},
): Response {
  const gateway = path.startsWith("/v1/gateway/");
  const requestId = newRequestId();
  const answer = refuse(refusal, requestId, gateway ? "gateway" : "merchant");
  const whole = { ...answer, headers: { ...answer.headers, ...headers } };
  return respond(withHeaders(whole, requestId, NEWEST_STABLE, gateway));
}

/** What is refused where no endpoint's own answer fits. */
export const refusedPath = (refusal: AppError, path: string): Response => notServed(refusal, path);

/** No such path. */
export const unknownPath = (path: string): Response =>
  notServed(new AppError("not_found", "There is nothing at this path"), path);

/** The path exists, the method does not. */
export const wrongMethod = (path: string, allowed: readonly string[]): Response =>
  notServed(
    new AppError("invalid_params", `This path takes ${allowed.join(", ")}`, { status: 405 }),
    path,
    { Allow: allowed.join(", ") },
  );

/** A request line or path that cannot be read. */
export const malformedRequest = (path: string): Response =>
  notServed(new AppError("invalid_params", "The request cannot be read"), path);

/** A request of HTTP/1.1 must name its host (RFC 9112, 3.2). */
export const hostMissing = (path: string): Response =>
  notServed(new AppError("invalid_params", "The Host header is missing"), path);

/** The only expectation there is, is to be asked for the body (RFC 9110, 10.1.1). */
export const unmetExpectation = (path: string): Response =>
  notServed(
    new AppError("invalid_params", "Nothing but 100-continue can be expected", { status: 417 }),
    path,
  );

/** The process has not finished starting. */
export const starting = (): AppError =>
  new AppError("internal_error", "The service is starting: try again", {
    status: 503,
    retryAfterS: 1,
  });

/** As `starting`, where no endpoint was asked yet. */
export const notReadyYet = (path: string): Response => notServed(starting(), path);

/** More requests are worked on than may be: a prompt refusal that is tried again beats an answer after the caller gave up. */
export const busy = (path: string): Response =>
  notServed(
    new AppError("internal_error", "The service is busy: try again", {
      status: 503,
      retryAfterS: 1,
    }),
    path,
  );

/** Something failed outside every step. */
export const brokenAnswer = (path: string): Response =>
  notServed(new AppError("internal_error", "Internal error"), path);
