import {
  createMerchant as endpoint,
  listMerchants as listEndpoint,
} from "#server/contract/merchants.ts";
import { defineIdempotentRoute, defineRoute } from "#server/http/define-route.ts";
import { merchantChange, merchantView } from "#server/http/merchant-views.ts";
import { readCursor, writeCursor } from "#server/http/page-cursor.ts";
import { createMerchant, listMerchants } from "#server/usecases/merchants.ts";

const DEFAULT_LIMIT = 20;
/** What a cursor of this list says of its order. */
const ORDER = "time.merchants";

/** POST /v1/merchants: creates a merchant of the caller's partner. */
export const POST = defineIdempotentRoute(
  endpoint,
  async ({ body, caller, services, claim, render }) =>
    createMerchant(
      services,
      caller,
      { ...merchantChange(body), name: body.merchantName },
      claim,
      (made) => render({ merchant: merchantView(made) }),
    ),
);

/** GET /v1/merchants: the partner's merchants, newest first. */
export const GET = defineRoute(listEndpoint, async ({ query, caller, services }) => {
  const { status = null, search = null, cursor, limit = DEFAULT_LIMIT } = query;
  const after = readCursor(ORDER, cursor);
  const page = await listMerchants(services, caller, { status, search }, after, limit);
  return {
    merchants: page.rows.map(merchantView),
    totalCount: page.total,
    nextCursor: writeCursor(ORDER, page.next),
  };
});
