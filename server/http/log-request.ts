import { AppError } from "#server/platform/app-error.ts";
import type { Log } from "#server/platform/log.ts";
import type { Caller } from "#server/ports/services.ts";
import type { AppliedVersion } from "./read-version.ts";

/** What is known of a request when its log line is written. */
export type RequestTrace = {
  requestId: string;
  operation: string;
  /** Of the process's monotonic clock. */
  startedAt: number;
  version: AppliedVersion;
  caller: Caller | null;
  /** Empty: the path names none. */
  paymentId: string;
};

/** Writes the one line of a request: outcomes and 404 as info, refusals as warnings, bugs and outages as errors. */
export function logRequest(
  { log, flatLog }: { log: Log; flatLog: Log },
  trace: RequestTrace,
  status: number,
  refused: { code: string; error: unknown } | null,
): void {
  const { requestId, operation, caller, paymentId } = trace;
  const line = {
    requestId,
    operation,
    status,
    durationMs: Math.round((performance.now() - trace.startedAt) * 10) / 10,
    keyId: caller?.keyId,
    merchantId: caller?.kind === "merchant" ? caller.merchantId : undefined,
    paymentId: paymentId === "" ? undefined : paymentId,
  };
  if (refused === null) flatLog.info(line, "request");
  else if (refused.error instanceof AppError) {
    const { detail, cause } = refused.error;
    const refusal = { ...line, code: refused.code, detail, err: cause };
    if (status === 404) log.info(refusal, "request");
    else if (status < 500) log.warn(refusal, "request");
    else log.error(refusal, "request");
  } else log.error({ ...line, code: refused.code, err: refused.error }, "request");
}
