import type { FlowEvent, Rejection } from "./flow.ts";
import { refusalIn } from "./refusal.ts";

/** Why the result of a wallet was not taken; undefined: for no fault of it. */
export function rejectionIn(error: unknown): Rejection | undefined {
  const refusal = refusalIn(error);
  if (refusal?.code === "quote_expired") return "lapsed";
  return refusal?.code === "params_validation" && refusal.status === 422 ? "signature" : undefined;
}

/** Tells what a refusal means for where the buyer stands; true: it was told. */
export function judge(
  { dispatch, wake }: { dispatch: (event: FlowEvent) => void; wake: () => void },
  error: unknown,
): boolean {
  switch (refusalIn(error)?.code) {
    case "sanctioned_user":
      dispatch({ type: "blocked" });
      return true;
    case "payment_expired":
      dispatch({ type: "too_late" });
      wake();
      return true;
    case "invalid_state":
      // It was paid, cancelled or ended elsewhere: the next reading says how.
      wake();
      return true;
    default:
      return false;
  }
}
