/** One member of a request that was wrong, as the service names it. */
export type Issue = { path: string; message: string };

/** What is known about a call that did not succeed. */
export type ApiTrouble = {
  /** HTTP status; null: no answer came, and whether the call took effect is unknown. */
  status: number | null;
  /** Error code of the service; null: it named none. */
  code: string | null;
  message: string;
  /** Names the call in the service's log; null: no answer came. */
  requestId: string | null;
  issues: Issue[];
  /** From Retry-After; null: not given. */
  retryAfterMs: number | null;
  cause?: unknown;
};

/** A call that did not succeed, after all retries; branch on `code` and `status`, never on the text. */
export class FlorinApiError extends Error {
  override readonly name = "FlorinApiError";
  readonly status: number | null;
  readonly code: string | null;
  readonly requestId: string | null;
  readonly issues: Issue[];
  readonly retryAfterMs: number | null;

  constructor(trouble: ApiTrouble) {
    super(trouble.message, { cause: trouble.cause });
    this.status = trouble.status;
    this.code = trouble.code;
    this.requestId = trouble.requestId;
    this.issues = trouble.issues;
    this.retryAfterMs = trouble.retryAfterMs;
  }
}

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

const membersOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? { ...value } : {};

function issuesOf(value: unknown): Issue[] {
  if (!Array.isArray(value)) return [];
  return value.map((item) => {
    const { path, message } = membersOf(item);
    return { path: textOf(path) ?? "", message: textOf(message) ?? "" };
  });
}

/** The error an answer stands for; `body` is what it held, parsed, or undefined where that is no JSON. */
export function errorOfAnswer(response: Response, body: unknown): FlorinApiError {
  const { code, message, requestId, issues } = membersOf(body);
  const retryAfter = response.headers.get("Retry-After") ?? "";
  return new FlorinApiError({
    status: response.status,
    code: textOf(code),
    message: textOf(message) ?? `The service answered ${response.status}`,
    requestId: textOf(requestId) ?? response.headers.get("Request-Id"),
    issues: issuesOf(issues),
    retryAfterMs: /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) * 1000 : null,
  });
}

/** The error of a call that got no answer. */
export const errorOfSilence = (cause: unknown): FlorinApiError =>
  new FlorinApiError({
    status: null,
    code: null,
    message: "The service could not be reached",
    requestId: null,
    issues: [],
    retryAfterMs: null,
    cause,
  });
