import type { z } from "zod";
import type { ErrorCode } from "#server/domain/error-code.ts";

/** Largest body of an ordinary call, in bytes. */
export const BODY_LIMIT = 64 * 1024;
/** Largest body of a confirm, which may carry signed transactions. */
export const CONFIRM_BODY_LIMIT = 256 * 1024;

/** One endpoint as data; the route wrapper, the description and the tests read it. */
export type EndpointShape = {
  operation: string;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: `/v1/${string}`;
  summary: string;
  /** `merchant`: Api-Key and Merchant-Id. `partner`: Api-Key alone. `gateway`: Api-Key, or App-Id with Client-Id. */
  auth: "merchant" | "partner" | "gateway";
  /** What an absent Api-Key is answered with; the gateway has codes of its own. */
  missingKey: "missing_api_key" | "missing_merchant_api_key" | "missing_auth_headers";
  query: z.ZodType | null;
  body: z.ZodType | null;
  bodyLimit: number;
  response: z.ZodType;
  status: 200 | 201;
  /** Codes of its own; those every call of its kind can answer come from `possibleErrors`. */
  errors: readonly ErrorCode[];
  /** Whether Idempotency-Key makes a repetition answer what the first call was answered. */
  idempotent: boolean;
  /** Whether browsers of any origin may call it. */
  cors: boolean;
};

/** Keeps the exact types of the shapes, so that a handler's input and answer are checked against them. */
export const defineEndpoint = <const E extends EndpointShape>(endpoint: E): E => endpoint;

const ALWAYS: readonly ErrorCode[] = [
  "header_not_ascii",
  "invalid_api_version",
  "unknown_api_version",
  "invalid_api_key",
  "forbidden",
  "not_sandbox_api_key",
  "rate_limited",
  "internal_error",
];
const BY_AUTH: Record<EndpointShape["auth"], readonly ErrorCode[]> = {
  merchant: ["missing_merchant_id", "merchant_not_found", "api_version_downgrade"],
  partner: ["api_version_downgrade"],
  gateway: ["missing_app_id", "missing_client_id", "invalid_app_id", "conflicting_auth_headers"],
};

/** Every code an endpoint can answer. */
export function possibleErrors(endpoint: EndpointShape): ErrorCode[] {
  const { path, query, body } = endpoint;
  const reads = path.includes("{") || query !== null || body !== null;
  const own = [endpoint.missingKey, ...BY_AUTH[endpoint.auth], ...endpoint.errors];
  const idempotency: ErrorCode[] = endpoint.idempotent
    ? ["idempotency_conflict", "params_validation"]
    : [];
  const shape: ErrorCode[] = reads ? ["invalid_params"] : [];
  return [...new Set([...shape, ...ALWAYS, ...own, ...idempotency])];
}
