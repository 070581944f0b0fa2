import { createTRPCClient, httpLink, type TRPCClient, TRPCClientError } from "@trpc/client";
import type { ApiErrorData } from "#server/contract/checkout.ts";
import type { AppRouter } from "./router.ts";

export type { AppRouter };

/** The procedures as a browser calls them. */
export type ApiClient = TRPCClient<AppRouter>;

/**
 * A client of this page's own server. Every call is a POST, so that neither ids nor tokens stand in an address, and none is
 * kept by a cache. `base` is the origin to call, for programs that have none of their own.
 */
export const createApiClient = (base = ""): ApiClient =>
  createTRPCClient<AppRouter>({
    links: [httpLink({ url: `${base}/api/trpc`, methodOverride: "POST" })],
  });

/** What the server said when it refused a call; null: it was never reached, or something else answered in its place. */
export function refusalOf(error: unknown): (ApiErrorData & { message: string }) | null {
  if (!(error instanceof TRPCClientError)) return null;
  const { data, message } = error as TRPCClientError<AppRouter>;
  return data == null ? null : { ...data, message };
}
