import { z } from "zod";
import { GatewayError } from "./gateway-error.ts";
import { pause, SYSTEM_TIMERS, stopIfAborted, type Timers } from "./timers.ts";

/** A wallet key (from a backend only), or a public app id with an id of this installation. */
export type Credentials = { apiKey: string } | { appId: string; clientId: string };

/** The part of `fetch` the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** How to reach one payment service. */
export type TransportSettings = {
  /** Origin, or origin and path prefix, of the service. */
  baseUrl: string;
  credentials: Credentials;
  /** API version to ask for; without it the service applies its own. */
  serviceVersion?: string;
  /** How long one attempt may take on top of the long poll it asks for; 15 s by default. */
  requestTimeoutMs?: number;
  fetch?: Fetch;
  timers?: Timers;
  /** Gives a number from 0 up to, not including, 1. */
  random?: () => number;
};

/** One call; `answer` reads the body of a 2xx answer. */
export type GatewayCall<T> = {
  method: "GET" | "POST";
  path: string;
  query?: Record<string, string>;
  body?: unknown;
  answer: z.ZodType<T>;
  /** Longest hold the call asks the server for. */
  holdMs?: number;
  /** The instant (server's clock, ms) from which on the call is not sent again. */
  notAfterMs?: number | undefined;
  signal?: AbortSignal | undefined;
};

/** Sends calls with the retry rules of the protocol. */
export type Transport = {
  /** Throws `GatewayError`, or the signal's reason when the caller aborts. */
  call: <T>(call: GatewayCall<T>) => Promise<T>;
  /** The server's clock in milliseconds, as far as its `Date` headers could be read; never behind it. */
  serverNow: () => number;
  timers: Timers;
};

/** Retries after the first attempt, and the first pause; the protocol's own recommendation. */
const MAX_RETRIES = 3;
const FIRST_BACKOFF_MS = 100;
const REQUEST_TIMEOUT_MS = 15_000;

/** A `Date` header names a whole second that may already be almost over. */
const DATE_HEADER_GRAIN_MS = 999;

/** An HTTP answer read to its end, or the reason why none came. */
type Attempt =
  | { kind: "answered"; response: Response; text: string }
  | { kind: "unanswered"; cause: unknown };

const errorBody = z.object({
  code: z.string().nullable().catch(null),
  message: z.string().catch(""),
  requestId: z.string().nullable().catch(null),
  issues: z.array(z.object({ path: z.string().catch(""), message: z.string() })).catch([]),
});

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // an answer that is not JSON fits no schema, so it is reported as unreadable
  }
}

function retryAfterMs(response: Response): number | null {
  const seconds = response.headers.get("Retry-After");
  return seconds !== null && /^[0-9]{1,5}$/.test(seconds) ? Number(seconds) * 1000 : null;
}

function readRefusal(response: Response, text: string, afterLoss: boolean): GatewayError {
  const parsed = errorBody.safeParse(parseJson(text));
  const body = parsed.success ? parsed.data : null;
  return new GatewayError({
    kind: response.status < 500 ? "refused" : "unavailable",
    status: response.status,
    code: body?.code ?? null,
    message: body?.message || `The payment service answered ${response.status}.`,
    requestId: body?.requestId ?? response.headers.get("Request-Id"),
    issues: body?.issues ?? [],
    retryAfterMs: retryAfterMs(response),
    afterLoss,
  });
}

function readAnswer<T>(response: Response, text: string, answer: z.ZodType<T>): T {
  const parsed = answer.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new GatewayError({
    kind: "unreadable",
    status: response.status,
    message: "The payment service gave an answer this wallet cannot read.",
    requestId: response.headers.get("Request-Id"),
    issues: parsed.error.issues.map(({ path, message }) => ({ path: path.join("."), message })),
  });
}

function headersFor({ credentials, serviceVersion }: TransportSettings, hasBody: boolean) {
  return {
    Accept: "application/json",
    ...(hasBody ? { "Content-Type": "application/json" } : {}),
    ...(serviceVersion === undefined ? {} : { "Service-Version": serviceVersion }),
    ...("apiKey" in credentials
      ? { "Api-Key": credentials.apiKey }
      : { "App-Id": credentials.appId, "Client-Id": credentials.clientId }),
  };
}

function prepare(settings: TransportSettings, call: GatewayCall<unknown>) {
  const query = new URLSearchParams(call.query).toString();
  const url = `${settings.baseUrl.replace(/\/+$/, "")}${call.path}${query === "" ? "" : `?${query}`}`;
  const init: RequestInit = {
    method: call.method,
    headers: headersFor(settings, call.body !== undefined),
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    cache: "no-store",
    credentials: "omit",
    redirect: "error", // a redirect would carry the key to another host
  };
  return { url, init };
}

/** Builds the transport; nothing is sent until the first call. */
export function createTransport(settings: TransportSettings): Transport {
  const timers = settings.timers ?? SYSTEM_TIMERS;
  const random = settings.random ?? Math.random;
  const doFetch: Fetch = settings.fetch ?? ((url, init) => fetch(url, init));
  const timeoutMs = settings.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
  let offsetMs = 0;
  const serverNow = () => timers.now() + offsetMs;

  function learnTime(response: Response): void {
    const sent = Date.parse(response.headers.get("Date") ?? "");
    if (!Number.isNaN(sent)) offsetMs = sent + DATE_HEADER_GRAIN_MS - timers.now();
  }

  async function attempt(url: string, init: RequestInit, call: GatewayCall<unknown>) {
    const stop = new AbortController();
    const onAbort = () => stop.abort(call.signal?.reason);
    call.signal?.addEventListener("abort", onAbort, { once: true });
    const callOff = timers.after(timeoutMs + (call.holdMs ?? 0), () =>
      stop.abort(new Error("no answer in time")),
    );
    try {
      const response = await doFetch(url, { ...init, signal: stop.signal });
      learnTime(response);
      return { kind: "answered", response, text: await response.text() } satisfies Attempt;
    } catch (cause) {
      stopIfAborted(call.signal);
      return { kind: "unanswered", cause } satisfies Attempt;
    } finally {
      callOff();
      call.signal?.removeEventListener("abort", onAbort);
    }
  }

  async function call<T>(call: GatewayCall<T>): Promise<T> {
    const { url, init } = prepare(settings, call);
    for (let retry = 0; ; retry += 1) {
      stopIfAborted(call.signal);
      const made = await attempt(url, init, call);
      if (made.kind === "answered" && made.response.ok)
        return readAnswer(made.response, made.text, call.answer);
      const failure =
        made.kind === "answered"
          ? readRefusal(made.response, made.text, retry > 0)
          : new GatewayError({
              kind: "unavailable",
              message: "The payment service could not be reached.",
              cause: made.cause,
            });
      if (failure.kind !== "unavailable" || retry === MAX_RETRIES) throw failure;
      const backoffMs = FIRST_BACKOFF_MS * 2 ** retry;
      await pause(timers, backoffMs + random() * backoffMs, call.signal);
      if (call.notAfterMs !== undefined && serverNow() >= call.notAfterMs) throw failure;
    }
  }

  return { call, serverNow, timers };
}
