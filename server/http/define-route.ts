import type { z } from "zod";
import { type Container, container } from "#server/container.ts";
import type { EndpointShape } from "#server/contract/endpoint.ts";
import { NEWEST_STABLE } from "#server/contract/version.ts";
import { AppError } from "#server/platform/app-error.ts";
import type { Caller, Services } from "#server/ports/services.ts";
import type { IdempotencyClaim, StoredAnswer } from "#server/ports/store.ts";
import type { Hangup } from "#server/ports/wakeup.ts";
import { type Answer, newRequestId, respond } from "./answer.ts";
import { authenticate } from "./authenticate.ts";
import { enter, leave } from "./back-pressure.ts";
import { checkHeaders } from "./check-headers.ts";
import type { Connection } from "./connection.ts";
import { type Audience, errorAnswer, refuse, statusOf } from "./error-answer.ts";
import { readClaim } from "./idempotency.ts";
import {
  type Counted,
  countAddress,
  countCaller,
  countFailures,
  countPayment,
  limitHeaders,
} from "./limits.ts";
import { logRequest, type RequestTrace } from "./log-request.ts";
import { starting } from "./not-served.ts";
import { readPaymentId } from "./payment-id.ts";
import { readBody } from "./read-body.ts";
import { readQuery } from "./read-query.ts";
import { applyVersion, askedVersion, namesOlderHeader } from "./read-version.ts";
import { validate } from "./validate.ts";

/** What Next and the front door call: a plain function of the web's own types. Next names no `params` where the path has none. */
export type RouteHandler = (
  request: Request,
  context: { params: Promise<Record<string, string> | undefined>; connection?: Connection },
) => Promise<Response>;

type Out<S> = S extends z.ZodType ? z.output<S> : null;

/** A request that passed every check, as its endpoint's contract types it. */
export type RouteInput<E extends EndpointShape> = {
  /** The payment the path names; empty on paths without `{id}`. */
  paymentId: string;
  /** What the path's other `{name}` segments say, percent-decoded; empty where a name is not there. */
  param(name: string): string;
  query: Out<E["query"]>;
  body: Out<E["body"]>;
  caller: Extract<Caller, { kind: E["auth"] }>;
  services: Services;
  /** The caller named its version by a header only deployed terminals use. */
  olderHeader: boolean;
  /** Aborts when the caller hangs up. */
  readonly signal: Hangup;
};

/** As `RouteInput`, with what makes a repetition answer the same. */
export type IdempotentInput<E extends EndpointShape> = RouteInput<E> & {
  claim: IdempotencyClaim | null;
  /** The answer as it is stored and sent. */
  render(response: z.input<E["response"]>): StoredAnswer;
};

/** One request on its way through the steps. */
type Passage = {
  request: Request;
  container: Container;
  params: Record<string, string>;
  connection: Connection | undefined;
  counted: Counted;
  trace: RequestTrace;
};

/** Who calls and in which version; from here on the answer names that version. */
async function admit(endpoint: EndpointShape, passage: Passage): Promise<Caller> {
  const { request, container: parts, counted, connection, trace } = passage;
  const { headers } = request;
  checkHeaders(headers);
  const asked = askedVersion(headers);
  if (asked !== null) trace.version = asked;
  const address = await countAddress(parts, endpoint, counted, { connection, headers });
  const { caller, pin } = await countFailures(parts, endpoint, counted, { address, headers }, () =>
    authenticate(parts, endpoint, headers),
  );
  trace.caller = caller;
  trace.version = applyVersion(asked, pin);
  await countCaller(parts, counted, caller, headers);
  return caller;
}

/** Reads what the contract says there is to read, in the order path, query, body. */
async function readInput(endpoint: EndpointShape, passage: Passage, caller: Caller) {
  const { request, container: parts, params, trace } = passage;
  const hosts = endpoint.auth === "gateway" ? parts.env : null;
  const paymentId = params.id === undefined ? "" : readPaymentId(params.id, hosts);
  trace.paymentId = paymentId;
  await countPayment(parts, endpoint, passage.counted, paymentId);
  const query = endpoint.query === null ? null : readQuery(endpoint.query, request.url);
  const raw = endpoint.body === null ? null : await readBody(request, endpoint.bodyLimit);
  const body = endpoint.body === null ? null : validate(endpoint.body, raw, "body");
  const input = {
    paymentId,
    param: (name: string) => params[name] ?? "",
    query,
    body,
    caller,
    services: parts.services,
    olderHeader: namesOlderHeader(request.headers),
    get signal() {
      return passage.connection?.hangup ?? request.signal;
    },
  };
  return { input, raw };
}

/** The answer as the contract has it: what it does not name never leaves. */
const render = (endpoint: EndpointShape, response: unknown): Answer => ({
  status: endpoint.status,
  body: JSON.stringify(endpoint.response.parse(response)),
});

const audienceOf = ({ auth }: EndpointShape): Audience =>
  auth === "gateway" ? "gateway" : "merchant";

/** Runs one request through `work` and answers it, whatever happens. */
async function serve(
  endpoint: EndpointShape,
  work: (passage: Passage) => Promise<Answer>,
  request: Request,
  params: Record<string, string>,
  connection: Connection | undefined,
): Promise<Response> {
  const trace: RequestTrace = {
    requestId: newRequestId(),
    operation: endpoint.operation,
    startedAt: performance.now(),
    version: NEWEST_STABLE,
    caller: null,
    paymentId: "",
  };
  const parts = container();
  const counted: Counted = { policy: "", closest: null };
  let answer: Answer;
  let entered = false;
  try {
    enter(parts);
    entered = true;
    // Before its chains were compared a process would offer nothing, which a wallet takes for an empty purse.
    if (parts.state.phase === "starting") throw starting();
    answer = await work({ request, container: parts, params, connection, counted, trace });
    logRequest(parts, trace, answer.status, null);
  } catch (error) {
    const refused = errorAnswer(error, trace.requestId, audienceOf(endpoint), parts.isOutage);
    logRequest(parts, trace, refused.status, { code: refused.code, error });
    answer = refused;
  } finally {
    if (entered) leave(parts);
  }
  const limited = { ...answer, headers: { ...limitHeaders(counted), ...answer.headers } };
  return respond(limited, trace.requestId, trace.version, endpoint.cors);
}

const routeOf =
  (endpoint: EndpointShape, work: (passage: Passage) => Promise<Answer>): RouteHandler =>
  async (request, { params, connection }) =>
    serve(endpoint, work, request, (await params) ?? {}, connection);

/** The handler of an endpoint: `answer` gets checked input and returns what the contract's response takes. */
export const defineRoute = <E extends EndpointShape>(
  endpoint: E,
  answer: (input: RouteInput<E>) => Promise<z.input<E["response"]>>,
): RouteHandler =>
  routeOf(endpoint, async (passage) => {
    const caller = await admit(endpoint, passage);
    const { input } = await readInput(endpoint, passage, caller);
    // The shapes of `input` are those of `E`: they were read by its own contract.
    return render(endpoint, await answer(input as unknown as RouteInput<E>));
  });

/** A refusal of the work itself is kept; bad input before it, outages and a key in use for another body are not. */
function isKept(error: unknown): error is AppError {
  if (!(error instanceof AppError) || error.code === "idempotency_conflict") return false;
  const status = statusOf(error);
  return status >= 400 && status < 500 && status !== 429;
}

/** As `defineRoute`, for an endpoint whose answer is stored under the caller's Idempotency-Key. */
export const defineIdempotentRoute = <E extends EndpointShape & { auth: "merchant" | "partner" }>(
  endpoint: E,
  answer: (input: IdempotentInput<E>) => Promise<{ answer: StoredAnswer; replayed: boolean }>,
): RouteHandler =>
  routeOf(endpoint, async (passage) => {
    const caller = await admit(endpoint, passage);
    if (caller.kind === "gateway") throw new AppError("forbidden", "Merchant keys only");
    const { input, raw } = await readInput(endpoint, passage, caller);
    const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name) =>
      // A database refuses some characters and very long keys; no id of ours has either.
      name === "id" ? input.paymentId : encodeURIComponent(input.param(name)).slice(0, 128),
    );
    const claim = readClaim(passage.request.headers, caller, path, raw);
    const rendered = (response: z.input<E["response"]>) => render(endpoint, response);
    try {
      const whole = Object.assign(input, { claim, render: rendered });
      const done = await answer(whole as unknown as IdempotentInput<E>);
      return done.replayed
        ? { ...done.answer, headers: { "Idempotent-Replayed": "true" } }
        : done.answer;
    } catch (error) {
      if (claim !== null && isKept(error)) {
        const { status, body } = refuse(error, passage.trace.requestId, "merchant");
        await input.services.store.storeAnswer(claim, { status, body });
      }
      throw error;
    }
  });
