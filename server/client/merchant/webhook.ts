import type { envelopeOf } from "#server/domain/webhook/envelope.ts";

/** An event as it was sent. */
export type WebhookEvent = ReturnType<typeof envelopeOf>;

/** The message is not from the service, is too old to be trusted, or was changed on its way: answer it with 400. */
export class WebhookError extends Error {
  override readonly name = "WebhookError";
}

/** What arrived. `body` is the raw text: JSON that was parsed and written again has another signature. */
export type ReceivedWebhook = {
  headers: Headers | Readonly<Record<string, string | string[] | undefined>>;
  body: string;
};

const TOLERANCE_S = 300;
const PREFIX = /^whsec_/;

function headerOf(headers: ReceivedWebhook["headers"], name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  return typeof value === "string" ? value : "";
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> | null => {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return null; // not base64, so no signature of ours
  }
};

async function isSigned(secret: string, text: string, signatures: string[]): Promise<boolean> {
  const key = bytesOf(secret.replace(PREFIX, ""));
  if (key === null || key.length === 0) throw new TypeError("The secret is not a whsec_… secret");
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const hmac = await crypto.subtle.importKey("raw", key, algorithm, false, ["verify"]);
  const signed = new TextEncoder().encode(text);
  for (const signature of signatures) {
    const bytes = signature.startsWith("v1,") ? bytesOf(signature.slice(3)) : null;
    if (bytes !== null && (await crypto.subtle.verify("HMAC", hmac, bytes, signed))) return true;
  }
  return false;
}

/**
 * The event of a webhook that is genuine (Standard Webhooks, HMAC-SHA256) and at most five minutes old; throws
 * `WebhookError` otherwise. With several secrets, as during a rotation, one that fits is enough. Events can arrive
 * twice: keep their ids.
 */
export async function verifyWebhook(
  secrets: string | readonly string[],
  { headers, body }: ReceivedWebhook,
  nowMs: number = Date.now(),
): Promise<WebhookEvent> {
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const signatures = headerOf(headers, "webhook-signature").split(" ");
  if (id === "" || !/^\d{1,12}$/.test(timestamp))
    throw new WebhookError("The webhook's headers are missing");
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > TOLERANCE_S)
    throw new WebhookError("The webhook is too old, or a clock is wrong");
  for (const secret of [secrets].flat())
    if (await isSigned(secret, `${id}.${timestamp}.${body}`, signatures)) return JSON.parse(body);
  throw new WebhookError("The webhook's signature does not fit");
}
