import { confirmPayment as endpoint } from "#server/contract/gateway.ts";
import { defineRoute, type RouteInput } from "#server/http/define-route.ts";
import { showWhenChanged } from "#server/http/hold.ts";
import { preflight } from "#server/http/preflight.ts";
import { statusShower } from "#server/http/views.ts";
import { confirmPayment, isRepeatedConfirm } from "#server/usecases/confirm-payment.ts";
import { statusReader } from "#server/usecases/read-payment.ts";

type Input = Omit<RouteInput<typeof endpoint>, "body">;

const show = ({ paymentId, caller, services, query }: Input) => {
  const read = statusReader(services, caller, paymentId);
  return showWhenChanged(caller.keyId, query.maxPollMs ?? 0, read, statusShower(services));
};

/** POST /v1/gateway/payment/{id}/confirm: takes the wallet's results, then waits for what becomes of them. */
export const POST = defineRoute(
  endpoint,
  async (input) => {
    const { paymentId, caller, services, body } = input;
    const { optionId, results, collectedData } = body;
    await confirmPayment(services, caller, paymentId, { optionId, results, collectedData });
    return show(input);
  },
  async (input, raw) => {
    const { paymentId, caller, services } = input;
    const named = endpoint.body.pick({ optionId: true }).safeParse(raw);
    if (!named.success) return null;
    const { optionId } = named.data;
    return (await isRepeatedConfirm(services, caller, paymentId, optionId)) ? show(input) : null;
  },
);

export const OPTIONS = preflight;
