/** One rule a request broke, as the service names it. */
export type Issue = { path: string; message: string };

/** What is known about a call that did not give a usable answer. */
export type GatewayTrouble = {
  /**
   * `refused`: a 4xx answer, not tried again. `unavailable`: 5xx answers or no connection, after all
   * retries; whether the call took effect is unknown. `unreadable`: an answer outside this protocol.
   */
  kind: "refused" | "unavailable" | "unreadable";
  message: string;
  /** HTTP status; null: there was no answer. */
  status?: number | null;
  /** Error code of the service; null: the body named none. */
  code?: string | null;
  /** Names the call in the service's log. */
  requestId?: string | null;
  issues?: Issue[];
  /** From `Retry-After`; null: not given. */
  retryAfterMs?: number | null;
  /** An earlier attempt of the same call went unanswered, and may have taken effect. */
  afterLoss?: boolean;
  cause?: unknown;
};

/** A gateway call that gave no usable answer; branch on `kind`, `status` and `code`, never on the text. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly kind: GatewayTrouble["kind"];
  readonly status: number | null;
  readonly code: string | null;
  readonly requestId: string | null;
  readonly issues: Issue[];
  readonly retryAfterMs: number | null;
  readonly afterLoss: boolean;

  constructor(trouble: GatewayTrouble) {
    super(trouble.message, { cause: trouble.cause });
    this.kind = trouble.kind;
    this.status = trouble.status ?? null;
    this.code = trouble.code ?? null;
    this.requestId = trouble.requestId ?? null;
    this.issues = trouble.issues ?? [];
    this.retryAfterMs = trouble.retryAfterMs ?? null;
    this.afterLoss = trouble.afterLoss ?? false;
  }
}
