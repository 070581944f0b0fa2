import { actors, call, type OfferedOption, until, untilOffered } from "./api.ts";
import type { TestWorld } from "./world.ts";

/** Longest wait for a payment to get somewhere, in milliseconds. */
export const PATIENCE_MS = 90_000;

type Flow = "intermediary" | "direct";

/** A merchant's questions about its payments. */
export function explainCalls(world: TestWorld, baseUrl: () => string) {
  const api = actors(world, baseUrl);
  const read = (id: string, query = "", flow: Flow = "intermediary") =>
    call(baseUrl(), "GET", `/v1/payments/${id}${query}`, { headers: api.merchantHeaders(flow) });
  const explanation = async (id: string, flow: Flow = "intermediary") => {
    const { status, text, body } = await read(id, "?include=explanation", flow);
    if (status !== 200) throw new Error(text);
    return body.explanation;
  };
  return {
    api,
    read,
    explanation,
    async created(options: Parameters<typeof api.create>[0] = {}): Promise<string> {
      const answer = await api.create(options);
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body.paymentId;
    },
    /** What an account is offered, asked for until it is something. */
    async offered(id: string, account: string): Promise<OfferedOption[]> {
      const { status, text, body } = await untilOffered(() => api.options(id, [account]));
      if (status !== 200) throw new Error(text);
      return body.options;
    },
    async timeline(id: string): Promise<{ at: number; kind: string; text: string }[]> {
      const { body } = await read(id, "?include=timeline");
      return body.timeline;
    },
    /** Waits until the payment's explanation has this code. */
    becomes: (id: string, code: string, flow: Flow = "intermediary") =>
      until(
        () => explanation(id, flow),
        (found) => found.code === code,
        PATIENCE_MS,
      ),
    pay: (id: string) => api.pay(id, world.buyer("everything").key, "USDC"),
  };
}
