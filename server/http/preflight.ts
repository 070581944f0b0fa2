import { NEWEST_STABLE } from "#server/contract/version.ts";
import { newRequestId, respond, withHeaders } from "./answer.ts";

const ALLOWED = [
  "Api-Key",
  "App-Id",
  "Client-Id",
  "Merchant-Id",
  "Content-Type",
  "Accept",
  "Idempotency-Key",
  "Service-Version",
  "WCP-Version",
  "api-version",
  "Sdk-Name",
  "Sdk-Version",
  "Sdk-Platform",
].join(", ");

/** Answers a browser that asks whether it may call: any origin may, without credentials of the browser's own. */
export async function preflight(): Promise<Response> {
  const headers = {
    "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
    "Access-Control-Allow-Headers": ALLOWED,
    "Access-Control-Max-Age": "86400",
  };
  return respond(
    withHeaders({ status: 204, body: "", headers }, newRequestId(), NEWEST_STABLE, true),
  );
}
