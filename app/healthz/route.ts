import { healthz } from "#server/http/health.ts";

/** GET /healthz: whether the process answers. */
export const GET = healthz;
