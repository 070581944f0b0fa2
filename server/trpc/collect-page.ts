import { container } from "#server/container.ts";
import type { CollectForm } from "#server/contract/collect.ts";
import type { ErrorCode } from "#server/domain/error-code.ts";
import { countPagePayment } from "#server/http/limits.ts";
import { AppError } from "#server/platform/app-error.ts";
import { openCollectForm } from "#server/usecases/collect-form.ts";
import { shownForm } from "./form-view.ts";

/** What a link to the form opens. `refused`: never by this link; `unreachable`: perhaps later. `now` in Unix milliseconds. */
export type OpenedForm =
  | { kind: "open"; form: CollectForm; now: number; termsUrl: string | null }
  | { kind: "refused"; code: ErrorCode }
  | { kind: "unreachable" };

type Written = { pid: string; accounts: string[]; t: string };

/** Opens the form for a page that is drawn on the server; never throws, and says nothing of the link in any log. */
export async function openForPage({ pid, accounts, t }: Written): Promise<OpenedForm> {
  const parts = container();
  const { services, env, log, isOutage } = parts;
  try {
    const link = { paymentId: pid, accounts, token: t };
    const offer = await openCollectForm(services, link);
    await countPagePayment(parts, { policy: "", closest: null }, offer.payment.id, "plain");
    return {
      kind: "open",
      form: shownForm(parts, offer),
      now: services.clock.now() * 1_000,
      termsUrl: env.FLORIN_TERMS_URL ?? null,
    };
  } catch (error) {
    if (
      error instanceof AppError &&
      error.code !== "rate_limited" &&
      error.code !== "internal_error"
    )
      return { kind: "refused", code: error.code };
    if (!(error instanceof AppError) && !isOutage(error))
      log.error({ err: error }, "the form of a payment could not be opened");
    return { kind: "unreachable" };
  }
}
