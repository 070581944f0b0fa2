import { type Container, container } from "#server/container.ts";
import type { EndpointShape } from "#server/contract/endpoint.ts";
import { NEWEST_STABLE } from "#server/contract/version.ts";
import { type Answer, newRequestId, respond, withHeaders } from "./answer.ts";
import type { Connection } from "./connection.ts";
import { type Audience, errorAnswer } from "./error-answer.ts";
import { hold, Later } from "./hold.ts";
import { addLimitHeaders, type Counted } from "./limits.ts";
import { logRequest, type RequestTrace } from "./log-request.ts";
import { starting } from "./not-served.ts";

/** One request on its way through the steps. */
export type Passage = {
  request: Request;
  container: Container;
  params: Record<string, string>;
  connection: Connection | undefined;
  counted: Counted;
  trace: RequestTrace;
};

/** What is left of a request when its answer is made. */
type Ending = {
  endpoint: EndpointShape;
  parts: Container;
  trace: RequestTrace;
  counted: Counted;
};

/** A caller that hung up is logged as this and answered nothing. */
const HUNG_UP = 499;

const audienceOf = ({ auth }: EndpointShape): Audience =>
  auth === "gateway" ? "gateway" : "merchant";

/** Ends a request: its log line, and the headers its answer needs. */
function end(ending: Ending, answer: Answer, failure: { error: unknown; code: string } | null) {
  const { endpoint, parts, trace, counted } = ending;
  logRequest(parts, trace, answer.status, failure);
  const whole = withHeaders(answer, trace.requestId, trace.version, endpoint.cors);
  addLimitHeaders(whole.headers, counted);
  // Whoever keeps the connection would ask a process that is gone.
  if (parts.state.phase === "stopping") whole.headers.Connection = "close";
  return whole;
}

function endRefused(ending: Ending, error: unknown) {
  const { endpoint, parts, trace } = ending;
  const refused = errorAnswer(error, trace.requestId, audienceOf(endpoint), parts.isOutage);
  return end(ending, refused, { code: refused.code, error });
}

/** Ends a request whose poll is over; never rejects. */
async function endHeld(ending: Ending, read: () => Promise<Answer>, isThere: boolean) {
  if (!isThere) return end(ending, { status: HUNG_UP, body: "" }, null);
  try {
    return end(ending, await read(), null);
  } catch (error) {
    return endRefused(ending, error);
  }
}

/** Waits where nothing is known of the connection. */
const waitFor = (ending: Ending, { poll, now, read }: Later<Answer>, signal: AbortSignal) =>
  new Promise<Response>((resolve) => {
    const isHeld = hold(ending.parts, poll, signal, (isThere) => {
      endHeld(ending, read, isThere).then(
        (answer) => resolve(respond(answer)),
        () => undefined,
      );
    });
    if (!isHeld) resolve(respond(end(ending, now(), null)));
  });

/** Holds the connection and lets everything else of the request go; its answer is written past the handler. */
function letGo(
  ending: Ending,
  poll: Later<Answer>["poll"],
  read: () => Promise<Answer>,
  connection: Connection,
): boolean {
  return hold(ending.parts, poll, connection.hangup, (isThere) => {
    endHeld(ending, read, isThere).then(
      (answer) => connection.write(answer),
      () => undefined,
    );
  });
}

/** Runs one request through `work` and answers it, whatever happens. */
export async function serve(
  endpoint: EndpointShape,
  work: (passage: Passage) => Promise<Answer | Later<Answer>>,
  request: Request,
  context: { params: Record<string, string>; connection: Connection | undefined },
): Promise<Response> {
  const { params, connection } = context;
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
  const ending: Ending = { endpoint, parts, trace, counted };
  try {
    // Before its chains were compared a process would offer nothing, which a wallet takes for an empty purse.
    if (parts.state.phase === "starting") throw starting();
    const made = await work({ request, container: parts, params, connection, counted, trace });
    if (!(made instanceof Later)) return respond(end(ending, made, null));
    if (connection === undefined) return waitFor(ending, made, request.signal);
    if (letGo(ending, made.poll, made.read, connection)) return connection.later;
    return respond(end(ending, made.now(), null));
  } catch (error) {
    return respond(endRefused(ending, error));
  }
}
