import { hash } from "node:crypto";
import type { Container } from "#server/container.ts";
import type { EndpointShape } from "#server/contract/endpoint.ts";
import { listPaymentOptions } from "#server/contract/gateway.ts";
import { GATEWAY_RETRY_S, type LimitName } from "#server/domain/limits.ts";
import { AppError } from "#server/platform/app-error.ts";
import { isOver, type Usage } from "#server/ports/limits.ts";
import type { Caller } from "#server/ports/services.ts";
import { clientAddress } from "./client-address.ts";
import type { Connection } from "./connection.ts";

/** What a request was counted under so far: the limits that concern its caller, and which of them is closest to its end. */
export type Counted = { policy: string; closest: Usage | null };

/** Longer names of clients are counted by their digest. */
const MAX_NAME = 64;

const restOf = ({ used, limit }: Usage): number => (limit - used) / limit;

function refusal(usage: Usage, gateway: boolean): AppError {
  const retryAfterS = gateway ? Math.min(usage.resetS, GATEWAY_RETRY_S) : usage.resetS;
  return new AppError("rate_limited", `Too many requests: try again in ${retryAfterS} s`, {
    retryAfterS,
    detail: `limit ${usage.name}: ${usage.used} of ${usage.limit}`,
  });
}

/** Policies in the order limits were counted in. They are few and alike for everybody, and held polls keep theirs: one string for all. */
const FOLLOWED = new Map<string, Map<string, string>>();
function followed(before: string, policy: string): string {
  const known = FOLLOWED.get(before)?.get(policy);
  if (known !== undefined) return known;
  const all = before === "" ? policy : `${before}, ${policy}`;
  FOLLOWED.set(before, (FOLLOWED.get(before) ?? new Map()).set(policy, all));
  return all;
}

function tell(parts: Container, counted: Counted, usage: Usage): void {
  counted.policy = followed(counted.policy, parts.limits.policy(usage.name));
  if (counted.closest === null || restOf(usage) < restOf(counted.closest)) counted.closest = usage;
}

async function count(
  parts: Container,
  counted: Counted,
  { name, subject, gateway }: { name: LimitName; subject: string; gateway: boolean },
): Promise<void> {
  const usage = await parts.limits.take(name, subject);
  tell(parts, counted, usage);
  if (isOver(usage)) throw refusal(usage, gateway);
}

/** The address a request is counted under; null: nothing is known. Counts it. */
export async function countAddress(
  parts: Container,
  endpoint: Pick<EndpointShape, "auth">,
  counted: Counted,
  from: { connection: Connection | undefined; headers: Headers },
): Promise<string | null> {
  const { FLORIN_TRUSTED_PROXIES: trusted } = parts.env;
  const forwarded = trusted === 0 ? null : from.headers.get("x-forwarded-for");
  const address = clientAddress(from.connection?.address, forwarded, trusted);
  if (address === null) return null;
  const usage = await parts.limits.take("address", address);
  if (isOver(usage)) {
    tell(parts, counted, usage);
    throw refusal(usage, endpoint.auth === "gateway");
  }
  return address;
}

const GUESSED = new Set(["invalid_api_key", "invalid_app_id"]);

/**
 * Runs `authenticate` and counts credentials that are refused. Once an address had too many refused, only credentials that
 * were good a while ago are looked at: guessing stops, and nobody else behind that address is locked out.
 */
export async function countFailures<T>(
  parts: Container,
  endpoint: EndpointShape,
  counted: Counted,
  from: { address: string | null; headers: Headers },
  authenticate: () => Promise<T>,
): Promise<T> {
  const { address, headers } = from;
  if (address === null) return authenticate();
  if (!parts.limits.isQuiet("failures")) {
    const before = await parts.limits.look("failures", address);
    const claimed = headers.get("api-key") ?? headers.get("app-id") ?? "";
    if (before.used >= before.limit && claimed !== "" && !parts.credentials.wasGood(claimed)) {
      tell(parts, counted, before);
      throw refusal(before, endpoint.auth === "gateway");
    }
  }
  try {
    return await authenticate();
  } catch (error) {
    if (error instanceof AppError && GUESSED.has(error.code))
      await parts.limits.take("failures", address);
    throw error;
  }
}

/** Counts an authenticated call under its key, or its app and client. */
export function countCaller(
  parts: Container,
  counted: Counted,
  caller: Caller,
  headers: Headers,
): Promise<void> {
  if (caller.kind !== "gateway")
    return count(parts, counted, { name: "key", subject: caller.keyId, gateway: false });
  if (!caller.keyId.startsWith("app_"))
    return count(parts, counted, { name: "wallet", subject: caller.keyId, gateway: true });
  const client = headers.get("client-id") ?? "";
  const named = client.length > MAX_NAME ? hash("sha256", client, "base64") : client;
  const subject = `${caller.keyId} ${named}`;
  return count(parts, counted, { name: "client", subject, gateway: true });
}

/** What callers who see the same payments count under together, pages among the wallets: a count tells nobody of a payment that is not theirs to see. */
function subjectOf({ env }: Container, caller: Caller, paymentId: string): string {
  const { environment } = caller;
  if (caller.kind !== "gateway" || caller.reach === "all" || "paymentId" in caller.reach) {
    const ofPages = env.FLORIN_MODE === "live" ? "live" : "test";
    return environment === ofPages ? paymentId : `${environment} ${paymentId}`;
  }
  const { partnerId, merchantId } = caller.reach;
  return `${environment} ${partnerId} ${merchantId ?? "*"} ${paymentId}`;
}

/** Counts a wallet's call under the payment it is about. */
export async function countPayment(
  parts: Container,
  endpoint: EndpointShape,
  counted: Counted,
  { caller, paymentId }: { caller: Caller; paymentId: string },
): Promise<void> {
  if (endpoint.auth !== "gateway" || paymentId === "") return;
  const subject = subjectOf(parts, caller, paymentId);
  await count(parts, counted, { name: "payment", subject, gateway: true });
  if (endpoint.operation === listPaymentOptions.operation)
    await count(parts, counted, { name: "options", subject, gateway: true });
}

/** Counts a page's call under its address, and refuses one too many. */
export async function countPageAddress(
  parts: Container,
  counted: Counted,
  from: { connection: Connection | undefined; headers: Headers },
): Promise<void> {
  await countAddress(parts, { auth: "gateway" }, counted, from);
}

/** Counts a page's call under the payment it is about, beside the wallets' calls about it. */
export async function countPagePayment(
  parts: Container,
  counted: Counted,
  paymentId: string,
  call: "plain" | "options",
): Promise<void> {
  await count(parts, counted, { name: "payment", subject: paymentId, gateway: true });
  if (call === "options")
    await count(parts, counted, { name: "options", subject: paymentId, gateway: true });
}

/** What an answer says of the caller's limits (draft-ietf-httpapi-ratelimit-headers-11). */
export function addLimitHeaders(
  headers: Record<string, string>,
  { policy, closest }: Counted,
): void {
  if (closest === null) return;
  const left = Math.max(0, closest.limit - closest.used);
  headers["RateLimit-Policy"] = policy;
  headers.RateLimit = `"${closest.name}";r=${left};t=${closest.resetS}`;
}
