import type { ApiErrorData } from "#server/contract/checkout.ts";

/**
 * What the server said when it refused a call; null: it was never reached. Told by its shape, so that reading it does not bring the
 * client with it into the first load.
 */
export function refusalIn(error: unknown): ApiErrorData | null {
  if (!(error instanceof Error) || !("data" in error)) return null;
  const { data } = error;
  return typeof data === "object" && data !== null && "code" in data
    ? (data as ApiErrorData)
    : null;
}
