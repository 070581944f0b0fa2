import { openapi } from "#server/http/openapi.ts";

/** GET /openapi.json: what this API is, for programs. */
export const GET = openapi;
export const dynamic = "force-dynamic";
