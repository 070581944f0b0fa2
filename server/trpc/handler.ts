import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { type Container, container } from "#server/container.ts";
import { CONFIRM_BODY_LIMIT } from "#server/contract/endpoint.ts";
import { NEWEST_STABLE } from "#server/contract/version.ts";
import { type Answer, newRequestId, respond, withHeaders } from "#server/http/answer.ts";
import type { Connection } from "#server/http/connection.ts";
import type { RouteHandler } from "#server/http/define-route.ts";
import { refusalOf, statusOf } from "#server/http/error-answer.ts";
import { addLimitHeaders, type Counted, countPageAddress } from "#server/http/limits.ts";
import { logRequest, type RequestTrace } from "#server/http/log-request.ts";
import { starting } from "#server/http/not-served.ts";
import { readBody } from "#server/http/read-body.ts";
import { requireOwnOrigin } from "#server/http/same-origin.ts";
import type { AppError } from "#server/platform/app-error.ts";
import { errorData, refusalIn } from "./errors.ts";
import type { ApiContext } from "./init.ts";
import { appRouter } from "./router.ts";

/** Where the pages call. */
export const API_PATH = "/api/trpc";
const JSON_RPC_REFUSED = -32_600;

type Work = {
  parts: Container;
  trace: RequestTrace;
  counted: Counted;
  /** What the log says of a refusal; null: none. */
  failure: { error: unknown; code: string } | null;
};

/** A refusal before any procedure, in the envelope its client reads. */
function refused(work: Work, error: unknown): Answer {
  const refusal = refusalOf(error, work.parts.isOutage);
  work.failure = { error, code: refusal.code };
  const data = errorData(refusal, work.trace.requestId);
  const body = { error: { code: JSON_RPC_REFUSED, message: refusal.message, data } };
  return { status: data.status, body: JSON.stringify(body), headers: retryHeader(refusal) };
}

const retryHeader = ({ retryAfterS }: AppError): Record<string, string> =>
  retryAfterS === undefined ? {} : { "Retry-After": String(retryAfterS) };

function finish(work: Work, answer: Answer): Required<Answer> {
  const { parts, trace, counted, failure } = work;
  logRequest(parts, trace, answer.status, failure);
  const whole = withHeaders(answer, trace.requestId, trace.version, false);
  addLimitHeaders(whole.headers, counted);
  if (parts.state.phase === "stopping") whole.headers.Connection = "close";
  return whole;
}

/** Runs one procedure on a body that was read, and gives what it answered as text. */
async function run(work: Work, path: string, body: unknown, context: ApiContext): Promise<Answer> {
  let status: number | null = null;
  let headers: Record<string, string> = {};
  const response = await fetchRequestHandler({
    endpoint: API_PATH,
    // Made anew: the body was read under our limits, and nothing else of the caller's request matters here.
    req: new Request(`http://localhost${API_PATH}/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
    router: appRouter,
    createContext: () => context,
    allowBatching: false,
    allowMethodOverride: true,
    onError({ error }) {
      const refusal = refusalIn(error, work.parts.isOutage);
      work.failure = { error: error.cause ?? error, code: refusal.code };
      status = statusOf(refusal);
      headers = retryHeader(refusal);
    },
  });
  return { status: status ?? response.status, body: await response.text(), headers };
}

const NAME = /^[a-zA-Z]{1,40}(\.[a-zA-Z]{1,40}){0,2}$/;

async function answer(
  work: Work,
  request: Request,
  path: string,
  connection: Connection | undefined,
  onHold: () => void,
): Promise<Required<Answer>> {
  const { parts, trace, counted } = work;
  try {
    if (parts.state.phase === "starting") throw starting();
    await countPageAddress(parts, counted, { connection, headers: request.headers });
    requireOwnOrigin(request.headers, parts.env);
    const body = await readBody(request, CONFIRM_BODY_LIMIT);
    const hangup = connection?.hangup ?? request.signal;
    const { services } = parts;
    const context: ApiContext = { parts, services, trace, counted, hangup, onHold };
    return finish(work, await run(work, path, body, context));
  } catch (error) {
    return finish(work, refused(work, error));
  }
}

/** POST /api/trpc/{procedure}: the calls of the pages. No keys, no cookies, no other origins. */
export const POST: RouteHandler = async (request, { params, connection }) => {
  const { trpc = "" } = (await params) ?? {};
  const path = NAME.test(trpc) ? trpc : "unknown";
  const trace: RequestTrace = {
    requestId: newRequestId(),
    operation: `trpc.${path}`,
    startedAt: performance.now(),
    version: NEWEST_STABLE,
    caller: null,
    paymentId: "",
  };
  const work: Work = {
    parts: container(),
    trace,
    counted: { policy: "", closest: null },
    failure: null,
  };
  if (connection === undefined)
    return respond(await answer(work, request, path, undefined, () => undefined));
  const held = Promise.withResolvers<"held">();
  const made = answer(work, request, path, connection, () => held.resolve("held"));
  const first = await Promise.race([made, held.promise]);
  if (first !== "held") return respond(first);
  // Like a held poll of the API: its request is over as far as the door counts, and the answer is written past it.
  made.then(
    (whole) => connection.write(whole),
    () => undefined,
  );
  return connection.later;
};
