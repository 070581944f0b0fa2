import type { ErrorCode } from "#server/domain/error-code.ts";

const BRAND = Symbol.for("florin.AppError");

/** One finding in a refused request: where, which member, and what to do. */
export type Issue = { path: string; field: string; message: string };

/** What an `AppError` may carry besides its code and message. */
export type AppErrorOptions = {
  /** For the log only; never sent. */
  detail?: string;
  issues?: Issue[];
  /** Overrides the status of the code's table row (413, 415, 422, 503). */
  status?: number;
  /** Seconds for `Retry-After`. */
  retryAfterS?: number;
  cause?: unknown;
};

/**
 * A refusal: the caller must change something. `message` is public.
 * Recognised by a brand, since several bundles of one process each have their own class.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly detail: string | undefined;
  readonly issues: Issue[] | undefined;
  readonly status: number | undefined;
  readonly retryAfterS: number | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.detail = options.detail;
    this.issues = options.issues;
    this.status = options.status;
    this.retryAfterS = options.retryAfterS;
    Object.defineProperty(this, BRAND, { value: true });
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && BRAND in value;
  }
}
