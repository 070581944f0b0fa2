import { type ApiClient, refusalOf } from "#server/trpc/client.ts";
import type { Answers, ServerIssue } from "./check.ts";
import { type Refusal, refusalFor } from "./refusal.ts";

/** The link a form was opened by, as it stands in the address. */
export type Link = { pid: string; accounts: string[]; t: string };

/**
 * How handing it in ended. `unreachable`: nobody knows whether it arrived, and doing it again does no harm; `busy` and
 * `rejected`: it was not stored.
 */
export type Submitted =
  | { kind: "stored" }
  | { kind: "rejected"; issues: readonly ServerIssue[] }
  | { kind: "busy" }
  | { kind: "unreachable" }
  | { kind: "refused"; refusal: Refusal };

/** Milliseconds a call may take before the buyer is told. */
const PATIENCE_MS = 20_000;

/** What a failed call means for a form: only what no correction and no second try can mend is a refusal. */
export function readFailure(error: unknown): Submitted {
  const refusal = refusalOf(error);
  if (refusal === null) return { kind: "unreachable" };
  const { code, retryable, issues } = refusal;
  if (code === "params_validation") return { kind: "rejected", issues };
  if (code === "rate_limited") return { kind: "busy" };
  return retryable ? { kind: "unreachable" } : { kind: "refused", refusal: refusalFor(code) };
}

/** Hands the form in; never throws. */
export async function submitAnswers(
  client: ApiClient,
  link: Link,
  answers: Answers,
): Promise<Submitted> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    await client.collect.submit.mutate({ ...link, data: { ...answers } }, { signal });
    return { kind: "stored" };
  } catch (error) {
    return readFailure(error);
  }
}
