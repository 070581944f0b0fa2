import { readyz } from "#server/http/health.ts";

/** GET /readyz: whether payments can be served. */
export const GET = readyz;
export const dynamic = "force-dynamic";
