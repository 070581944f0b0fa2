import { newId } from "#server/platform/ids.ts";
import type { AppliedVersion } from "./read-version.ts";

/** Headers that every origin may read, on the paths browsers call. */
const EXPOSED =
  "Date, RateLimit, RateLimit-Policy, Request-Id, Retry-After, Service-Version, WCP-Version";

type ResponseClass = new (body: string | null, init: ResponseInit) => Response;
let responseClass: ResponseClass = Response;

/** Makes answers of a cheaper class than the platform's; called once by a front door that knows how to write it. */
export function answerWith(made: ResponseClass): void {
  responseClass = made;
}

/** A JSON answer before it becomes a `Response`; `body` is written as it is, and an empty one is none. */
export type Answer = { status: number; body: string; headers?: Record<string, string> };

/** The id a request is known by in the answer and in the log. */
export const newRequestId = (): string => newId("request");

/** An answer with the headers every answer carries. */
export function withHeaders(
  answer: Answer,
  requestId: string,
  version: AppliedVersion,
  cors: boolean,
): Required<Answer> {
  const headers: Record<string, string> = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Request-Id": requestId,
    "Service-Version": version,
    "WCP-Version": version,
  };
  if (answer.body !== "") headers["Content-Type"] = "application/json";
  if (cors) {
    headers["Access-Control-Allow-Origin"] = "*";
    headers["Access-Control-Expose-Headers"] = EXPOSED;
  }
  if (answer.headers !== undefined) Object.assign(headers, answer.headers);
  return { status: answer.status, body: answer.body, headers };
}

/** Makes a `Response` of a whole answer. */
export const respond = ({ status, body, headers }: Required<Answer>): Response =>
  new responseClass(body === "" ? null : body, { status, headers });
