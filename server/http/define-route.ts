import type { z } from "zod";
import type { Container } from "#server/container.ts";
import type { EndpointShape } from "#server/contract/endpoint.ts";
import { AppError } from "#server/platform/app-error.ts";
import { ChainUnavailable } from "#server/ports/chain.ts";
import type { Caller, Services } from "#server/ports/services.ts";
import type { IdempotencyClaim, StoredAnswer } from "#server/ports/store.ts";
import type { Answer } from "./answer.ts";
import { authenticate } from "./authenticate.ts";
import { checkHeaders } from "./check-headers.ts";
import type { Connection } from "./connection.ts";
import { refuse, statusOf } from "./error-answer.ts";
import { Later } from "./hold.ts";
import { readClaim, replayOf } from "./idempotency.ts";
import { countAddress, countCaller, countFailures, countPayment } from "./limits.ts";
import { readPaymentId } from "./payment-id.ts";
import { readBody } from "./read-body.ts";
import { readQuery } from "./read-query.ts";
import { applyVersion, askedVersion, namesOlderHeader } from "./read-version.ts";
import { type Passage, serve } from "./serve.ts";
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
  /** The id in another `{name}` of the path; empty where there is none, or what stands there can be no id. */
  param(name: string): string;
  query: Out<E["query"]>;
  body: Out<E["body"]>;
  caller: Extract<Caller, { kind: E["auth"] }>;
  services: Services;
  /** The caller named its version by a header only deployed terminals use. */
  olderHeader: boolean;
};

/** As `RouteInput`, with what makes a repetition answer the same. */
export type IdempotentInput<E extends EndpointShape> = RouteInput<E> & {
  claim: IdempotencyClaim | null;
  /** The answer as it is stored and sent. */
  render(response: z.input<E["response"]>): StoredAnswer;
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

const ID = /^[A-Za-z0-9_-]{1,100}$/;

/** Reads what the contract says there is to read, in the order path, query, body; the body as it came. */
async function readInput(endpoint: EndpointShape, passage: Passage, caller: Caller) {
  const { request, container: parts, params, trace } = passage;
  const hosts = endpoint.auth === "gateway" ? parts.env : null;
  const paymentId = params.id === undefined ? "" : readPaymentId(params.id, hosts);
  trace.paymentId = paymentId;
  await countPayment(parts, endpoint, passage.counted, { caller, paymentId });
  const query = endpoint.query === null ? null : readQuery(endpoint.query, request.url);
  const raw = endpoint.body === null ? null : await readBody(request, endpoint.bodyLimit);
  const input = {
    paymentId,
    param: (name: string) => (ID.test(params[name] ?? "") ? (params[name] ?? "") : ""),
    query,
    caller,
    services: parts.services,
    olderHeader: namesOlderHeader(request.headers),
  };
  return { input, raw };
}

const checkBody = ({ body }: EndpointShape, raw: unknown): unknown =>
  body === null ? null : validate(body, raw, "body");

/** The answer as the contract has it: what it does not name never leaves. */
const render = (endpoint: EndpointShape, response: unknown): Answer => ({
  status: endpoint.status,
  body: JSON.stringify(endpoint.response.parse(response)),
});

/** Apart from its caller, so that it keeps nothing else of what that knows. */
const renderAgain =
  (endpoint: EndpointShape, read: () => Promise<unknown>): (() => Promise<Answer>) =>
  async () =>
    render(endpoint, await read());

const renderLater = (endpoint: EndpointShape, { poll, now, read }: Later<unknown>): Later<Answer> =>
  new Later(poll, () => render(endpoint, now()), renderAgain(endpoint, read));

const routeOf =
  (
    endpoint: EndpointShape,
    work: (passage: Passage) => Promise<Answer | Later<Answer>>,
  ): RouteHandler =>
  async (request, { params, connection }) =>
    serve(endpoint, work, request, { params: (await params) ?? {}, connection });

/** What the contract's response takes, now or later. */
type Made<E extends EndpointShape> = z.input<E["response"]> | Later<z.input<E["response"]>>;

/**
 * The handler of an endpoint: `answer` gets checked input. A body of the wrong shape goes to `rescue`, if there is one, which
 * returns null where it is to be refused.
 */
export const defineRoute = <E extends EndpointShape>(
  endpoint: E,
  answer: (input: RouteInput<E>) => Promise<Made<E>>,
  rescue?: (input: Omit<RouteInput<E>, "body">, raw: unknown) => Promise<Made<E> | null>,
): RouteHandler => {
  // The shapes of an input are those of `E`: they were read by its own contract.
  const make = async (input: object, raw: unknown): Promise<Made<E>> => {
    let body: unknown;
    try {
      body = checkBody(endpoint, raw);
    } catch (refusal) {
      const made = (await rescue?.(input as RouteInput<E>, raw)) ?? null;
      if (made === null) throw refusal;
      return made;
    }
    return answer(Object.assign(input, { body }) as RouteInput<E>);
  };
  return routeOf(endpoint, async (passage) => {
    const caller = await admit(endpoint, passage);
    const { input, raw } = await readInput(endpoint, passage, caller);
    const made = await make(input, raw);
    return made instanceof Later ? renderLater(endpoint, made) : render(endpoint, made);
  });
};

/** A refusal of the work itself is kept; bad input before it, outages and a key in use for another body are not. */
function isKept(error: unknown): error is AppError {
  if (!(error instanceof AppError) || error.code === "idempotency_conflict") return false;
  const status = statusOf(error);
  return status >= 400 && status < 500 && status !== 429;
}

/** Whether an answer given before cannot be looked up; where only a chain is away, it can. */
const isStoreAway = ({ isOutage }: Container, error: unknown): boolean =>
  isOutage(error) && !(error instanceof ChainUnavailable);

const REPLAYED = { "Idempotent-Replayed": "true" };

/** What a call's key was answered before stands, whatever the rules, the prices and the parts of the service say by now. */
async function answerAgain(
  { services }: { services: Services },
  claim: IdempotencyClaim,
): Promise<Answer | null> {
  const earlier = await services.store.storedAnswer(claim.scope, claim.key);
  return earlier === null ? null : { ...replayOf(earlier, claim), headers: REPLAYED };
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
    const body = checkBody(endpoint, raw);
    const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name) =>
      name === "id" ? input.paymentId : input.param(name),
    );
    const claim = readClaim(passage.request.headers, caller, path, raw);
    const rendered = (response: z.input<E["response"]>) => render(endpoint, response);
    try {
      const whole = Object.assign(input, { body, claim, render: rendered });
      const done = await answer(whole as unknown as IdempotentInput<E>);
      return done.replayed ? { ...done.answer, headers: REPLAYED } : done.answer;
    } catch (error) {
      if (claim === null || isStoreAway(passage.container, error)) throw error;
      const again = await answerAgain(input, claim);
      if (again !== null) return again;
      if (!isKept(error)) throw error;
      const { status, body } = refuse(error, passage.trace.requestId, "merchant");
      await input.services.store.storeAnswer(claim, { status, body });
      throw error;
    }
  });
