import type { RouteHandler } from "#server/http/define-route.ts";
import { merchantIcon } from "#server/http/merchant-icon.ts";
import { POST as callProcedure } from "#server/trpc/handler.ts";

/** What pages call and load beside themselves; served past Next like the API. */
export const PAGE_ROUTES: Readonly<Record<string, Readonly<Record<string, RouteHandler>>>> = {
  "/api/trpc/{trpc}": { POST: callProcedure },
  "/m/{merchantId}/icon": { GET: merchantIcon },
};
