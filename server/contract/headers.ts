import { API_VERSIONS } from "./version.ts";

type HeaderText = { description: string; schema: { type: string; [keyword: string]: unknown } };

const version = (description: string): HeaderText => ({
  description,
  schema: { type: "string", enum: [...API_VERSIONS] },
});
const text = (description: string, maxLength?: number): HeaderText => ({
  description,
  schema: { type: "string", ...(maxLength === undefined ? {} : { minLength: 1, maxLength }) },
});

/** Headers a caller may send. */
export const HEADERS = {
  "Api-Key": text("The private key. From a backend only; it must never reach a browser or an app."),
  "Merchant-Id": text("The merchant the call is made for."),
  "App-Id": text("Public id of a wallet app, instead of a key. Needs Client-Id."),
  "Client-Id": text("Names the installation of the app that calls. Needed with App-Id."),
  "Idempotency-Key": text(
    "Any text of your own that names this call. Repeating the call with the same key and body returns the first answer. Kept for 7 days.",
    255,
  ),
  "Service-Version": version(
    "The API version to answer in, not older than the one the partner is pinned to. Without it: the pinned one.",
  ),
  "WCP-Version": version("Another name for Service-Version, which decides where both are sent."),
  "Sdk-Name": text("What calls, for the log."),
  "Sdk-Version": text("Version of what calls, for the log."),
  "Sdk-Platform": text("Where it runs, for the log."),
} as const satisfies Record<string, HeaderText>;

export type HeaderName = keyof typeof HEADERS;

/** Headers an answer carries. */
export const ANSWER_HEADERS = {
  "Request-Id": text("Names this call in the server's log. Quote it when you ask for help."),
  "Service-Version": version("The API version this answer is written in."),
  "WCP-Version": version("The same as Service-Version."),
  "Idempotent-Replayed": {
    description:
      "`true` where this is the answer to an earlier call with the same Idempotency-Key.",
    schema: { type: "string", enum: ["true"] },
  },
  "RateLimit-Policy": text(
    "The limits that were counted: name, calls `q` in each window of `w` seconds.",
  ),
  RateLimit: text(
    "The limit that is closest: calls that remain `r`, and seconds until they return `t`.",
  ),
  "Retry-After": {
    description: "Seconds to wait before the next try.",
    schema: { type: "integer" },
  },
} as const satisfies Record<string, HeaderText>;

export type AnswerHeaderName = keyof typeof ANSWER_HEADERS;
