import type { z } from "zod";
import type { EndpointShape } from "#server/contract/endpoint.ts";
import { ENDPOINTS, type Endpoint } from "#server/contract/index.ts";
import { errorOfAnswer, errorOfSilence, type FlorinApiError } from "./api-error.ts";

/** How to reach the service. The key belongs in a backend. */
export type ClientSettings = {
  /** Origin, or origin and path prefix, of the service. */
  baseUrl: string;
  apiKey: string;
  /** The merchant the calls are made for; calls for a whole partner go without. */
  merchantId?: string;
  /** API version to ask for; without it the one the partner is pinned to. */
  serviceVersion?: string;
  /** How long one attempt may take, on top of the hold it asks for with `maxPollMs`; 30 s by default. */
  timeoutMs?: number;
  /** Retries after the first attempt; 3 by default. */
  maxRetries?: number;
  /** First pause between two attempts, doubled each time, with as much again at random; 100 ms by default. */
  backoffMs?: number;
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
};

type Names<P extends string> = P extends `${string}{${infer N}}${infer Rest}`
  ? N | Names<Rest>
  : never;
type Part<Name extends string, S> = S extends z.ZodType
  ? object extends z.input<S>
    ? { [K in Name]?: z.input<S> }
    : { [K in Name]: z.input<S> }
  : unknown;

/** What one call takes: the path's `{name}`s as members of their own, `query`, `body`, and how to make it. */
export type CallOf<E extends EndpointShape> = { [K in Names<E["path"]>]: string } & Part<
  "query",
  E["query"]
> &
  Part<"body", E["body"]> & {
    signal?: AbortSignal;
    /** Only for endpoints that take it; by default a new one for each call, kept through its retries. */
    idempotencyKey?: string;
  };

/** What a call answers. */
export type AnswerOf<E extends EndpointShape> = z.output<E["response"]>;

type MerchantEndpoint = Exclude<Endpoint, { auth: "gateway" }>;
type Arguments<E extends EndpointShape> =
  object extends CallOf<E> ? [call?: CallOf<E>] : [call: CallOf<E>];

/** One method for every operation of a merchant's backend. Each throws `FlorinApiError`, or the reason its signal was aborted with. */
export type MerchantClient = {
  [E in MerchantEndpoint as E["operation"]]: (...call: Arguments<E>) => Promise<AnswerOf<E>>;
};

type AnyCall = Record<string, unknown> & { signal?: AbortSignal; idempotencyKey?: string };

function urlOf(baseUrl: string, { path, operation }: EndpointShape, call: AnyCall): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => {
    const value = call[name];
    // An empty or dotted segment would call another endpoint.
    if (typeof value !== "string" || /^\.{0,2}$/.test(value))
      throw new TypeError(`${operation} needs ${name}`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(call.query ?? {}))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined) query.append(name, String(one));
  const search = query.size === 0 ? "" : `?${query}`;
  return `${baseUrl.replace(/\/+$/, "")}${filled}${search}`;
}

function headersOf(settings: ClientSettings, endpoint: EndpointShape, call: AnyCall) {
  const { apiKey, merchantId, serviceVersion } = settings;
  return {
    Accept: "application/json",
    "Api-Key": apiKey,
    ...(endpoint.auth === "merchant" && merchantId !== undefined
      ? { "Merchant-Id": merchantId }
      : {}),
    ...(serviceVersion === undefined ? {} : { "Service-Version": serviceVersion }),
    ...(call.body === undefined ? {} : { "Content-Type": "application/json" }),
    ...(endpoint.idempotent
      ? { "Idempotency-Key": call.idempotencyKey ?? crypto.randomUUID() }
      : {}),
  };
}

/** The hold a call asks for: so much later its answer may come. */
function holdOf(call: AnyCall): number {
  const { maxPollMs } = (call.query ?? {}) as { maxPollMs?: unknown };
  return Math.max(0, Number(maxPollMs ?? 0) || 0);
}

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not of this service, such as a proxy's page
  }
}

type Attempt = { answer: unknown } | { failure: FlorinApiError };

async function attempt(
  settings: ClientSettings,
  url: string,
  init: RequestInit,
  call: AnyCall,
): Promise<Attempt> {
  const { timeoutMs = 30_000, fetch: doFetch = fetch } = settings;
  const deadline = AbortSignal.timeout(timeoutMs + holdOf(call));
  const signal = call.signal === undefined ? deadline : AbortSignal.any([call.signal, deadline]);
  try {
    const response = await doFetch(url, { ...init, signal });
    const body = parsed(await response.text());
    if (response.ok && body !== undefined) return { answer: body };
    return { failure: errorOfAnswer(response, body) };
  } catch (cause) {
    call.signal?.throwIfAborted();
    return { failure: errorOfSilence(cause) };
  }
}

/** Whether a second attempt may help, and can do no harm. */
const mayRepeat = ({ method, idempotent }: EndpointShape, { status }: FlorinApiError): boolean =>
  (idempotent || method !== "POST") && (status === null || status >= 500);

async function send(
  settings: ClientSettings,
  endpoint: EndpointShape,
  call: AnyCall,
): Promise<unknown> {
  const { maxRetries = 3, backoffMs = 100 } = settings;
  const url = urlOf(settings.baseUrl, endpoint, call);
  const init: RequestInit = {
    method: endpoint.method,
    headers: headersOf(settings, endpoint, call),
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    redirect: "error", // a redirect would carry the key to another host
  };
  for (let retry = 0; ; retry += 1) {
    call.signal?.throwIfAborted();
    const made = await attempt(settings, url, init, call);
    if ("answer" in made) return made.answer;
    if (retry >= maxRetries || !mayRepeat(endpoint, made.failure)) throw made.failure;
    const backoff = backoffMs * 2 ** retry;
    await pause(backoff + Math.random() * backoff, call.signal);
  }
}

/** A client of the API for one key; nothing is sent until the first call. */
export function createMerchantClient(settings: ClientSettings): MerchantClient {
  const methods = ENDPOINTS.filter(({ auth }) => auth !== "gateway").map((endpoint) => [
    endpoint.operation,
    (call: AnyCall = {}) => send(settings, endpoint, call),
  ]);
  // Each method has the types of the endpoint it was made of.
  return Object.fromEntries(methods) as MerchantClient;
}
