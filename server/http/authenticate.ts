import type { Container } from "#server/container.ts";
import type { EndpointShape } from "#server/contract/endpoint.ts";
import { AppError } from "#server/platform/app-error.ts";
import type { Caller } from "#server/ports/services.ts";

/** Who calls, and the API version its partner is pinned to (null: none, as on the gateway). */
export type Authenticated = { caller: Caller; pin: string | null };

/** Two keys in one header arrive joined by a comma, which no key has. */
const KEY = /^(sk|gk)_(test|live)_[A-Za-z0-9_-]{20,100}$/;
const APP = /^app_[A-Za-z0-9_-]{4,120}$/;
const MERCHANT = /^[A-Za-z0-9_-]{1,100}$/;

/** An absent header and an empty one are the same. */
const header = (headers: Headers, name: string): string => headers.get(name) ?? "";

const MISSING = {
  missing_api_key: "The Api-Key header is missing",
  missing_merchant_api_key: "The Api-Key header is missing",
  missing_auth_headers: "Send Api-Key, or App-Id together with Client-Id",
} as const;

/** A live credential does nothing on a server that has only test money. */
function requireOwnMode(container: Container, environment: "test" | "live"): void {
  if (container.env.FLORIN_MODE !== "live" && environment === "live")
    throw new AppError("not_sandbox_api_key", "This server takes test keys only");
}

async function findKey(container: Container, clear: string, scope: "merchant" | "gateway") {
  // Unknown, malformed and revoked look alike.
  const owner = KEY.test(clear) ? await container.credentials.key(clear) : null;
  if (owner === null) throw new AppError("invalid_api_key", "The API key is not valid");
  requireOwnMode(container, owner.environment);
  if (!owner.scopes.includes(scope))
    throw new AppError("forbidden", `This key may not be used on the ${scope} API`);
  return owner;
}

async function authenticateMerchant(
  container: Container,
  endpoint: EndpointShape,
  headers: Headers,
): Promise<Authenticated> {
  const clear = header(headers, "api-key");
  if (clear === "") throw new AppError(endpoint.missingKey, MISSING[endpoint.missingKey]);
  const merchantId = header(headers, "merchant-id");
  if (merchantId === "")
    throw new AppError("missing_merchant_id", "The Merchant-Id header is missing");
  const owner = await findKey(container, clear, "merchant");
  const merchant = MERCHANT.test(merchantId)
    ? await container.credentials.merchant(merchantId)
    : null;
  if (
    merchant === null ||
    merchant.status !== "active" ||
    merchant.partnerId !== owner.partnerId ||
    merchant.environment !== owner.environment ||
    (owner.merchantId !== null && owner.merchantId !== merchantId)
  )
    throw new AppError("merchant_not_found", "There is no such merchant");
  const { environment, partnerId, id: keyId } = owner;
  return {
    caller: { kind: "merchant", environment, partnerId, merchantId, keyId },
    pin: owner.pin,
  };
}

async function authenticatePartner(
  container: Container,
  endpoint: EndpointShape,
  headers: Headers,
): Promise<Authenticated> {
  const clear = header(headers, "api-key");
  if (clear === "") throw new AppError(endpoint.missingKey, MISSING[endpoint.missingKey]);
  const owner = await findKey(container, clear, "merchant");
  const { environment, partnerId, merchantId, id: keyId } = owner;
  return {
    caller: { kind: "partner", environment, partnerId, merchantId, keyId },
    pin: owner.pin,
  };
}

async function authenticateWallet(
  container: Container,
  _: EndpointShape,
  headers: Headers,
): Promise<Authenticated> {
  const clear = header(headers, "api-key");
  const appId = header(headers, "app-id");
  const clientId = header(headers, "client-id");
  if (clear !== "" && appId !== "")
    throw new AppError("conflicting_auth_headers", "Send either Api-Key or App-Id, not both");
  if (clear !== "") {
    const owner = await findKey(container, clear, "gateway");
    const { environment, partnerId, merchantId, id: keyId } = owner;
    // A wallet's key reaches every payment of its environment, a merchant's own only its own ones.
    const isWallets = merchantId === null && clear.startsWith("gk_");
    const reach = isWallets ? "all" : { partnerId, merchantId };
    return { caller: { kind: "gateway", environment, partnerId, reach, keyId }, pin: null };
  }
  if (appId === "" && clientId === "")
    throw new AppError("missing_auth_headers", MISSING.missing_auth_headers);
  if (appId === "") throw new AppError("missing_app_id", "The App-Id header is missing");
  if (clientId === "") throw new AppError("missing_client_id", "App-Id needs a Client-Id header");
  const app = APP.test(appId) ? await container.credentials.app(appId) : null;
  if (app === null) throw new AppError("invalid_app_id", "The App-Id is not valid");
  requireOwnMode(container, app.environment);
  const { environment, partnerId, id: keyId } = app;
  return { caller: { kind: "gateway", environment, partnerId, reach: "all", keyId }, pin: null };
}

const AUTHENTICATE = {
  merchant: authenticateMerchant,
  partner: authenticatePartner,
  gateway: authenticateWallet,
} as const;

/** Finds out who calls; refuses everybody the endpoint is not for. */
export const authenticate = (
  container: Container,
  endpoint: EndpointShape,
  headers: Headers,
): Promise<Authenticated> => AUTHENTICATE[endpoint.auth](container, endpoint, headers);
