import { actors, call, until } from "./api.ts";
import { type Receiver, startReceiver } from "./receivers.ts";
import type { TestWorld } from "./world.ts";

type Flow = "intermediary" | "direct";
// biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes and assert on each.
type Body = any;

/** A merchant's side of webhooks in one world: receivers of its own and the calls about them. */
export function hooks(world: TestWorld, baseUrl: () => string) {
  const receivers: Receiver[] = [];
  const api = actors(world, baseUrl);
  const ask = (method: string, path: string, body?: unknown, flow: Flow = "intermediary") =>
    call(baseUrl(), method, path, {
      headers: api.merchantHeaders(flow),
      ...(body === undefined ? {} : { body }),
    });
  return {
    api,
    ask,
    async receiver(...behaviour: Parameters<typeof startReceiver>): Promise<Receiver> {
      const started = await startReceiver(...behaviour);
      receivers.push(started);
      return started;
    },
    async endpoint(url: string, more: object = {}, flow: Flow = "intermediary") {
      const made = await ask("POST", "/v1/webhook-endpoints", { url, ...more }, flow);
      if (made.status !== 201) throw new Error(made.text);
      return made.body as { id: string; secret: string };
    },
    async created(flow: Flow = "intermediary"): Promise<string> {
      const answer = await api.create({ flow });
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body.paymentId;
    },
    /** Ends a payment nobody paid: its second event. */
    async cancelled(flow: Flow = "intermediary"): Promise<string> {
      const id = await this.created(flow);
      const answer = await ask("POST", `/v1/payments/${id}/cancel`, undefined, flow);
      if (answer.status !== 200) throw new Error(answer.text);
      return id;
    },
    async deliveries(endpointId: string, query = ""): Promise<Body[]> {
      const path = `/v1/webhook-endpoints/${endpointId}/deliveries?limit=100${query}`;
      return (await ask("GET", path)).body.data;
    },
    async delivery(id: string): Promise<Body> {
      return (await ask("GET", `/v1/webhook-deliveries/${id}`)).body;
    },
    /** Lets time pass for deliveries: what is due later than now is due that much sooner. */
    async pass(seconds: number): Promise<void> {
      await world.db.query(
        `update webhook_delivery set due_at = due_at - make_interval(secs => $1) where state = 'pending'`,
        [seconds],
      );
    },
    /** Every event of the merchant by the pull feed. */
    async feed(flow: Flow = "intermediary"): Promise<Body[]> {
      const all: Body[] = [];
      for (let after = 0; ; ) {
        const page = (await ask("GET", `/v1/events?after=${after}&limit=200`, undefined, flow))
          .body;
        all.push(...page.data);
        after = page.nextAfter;
        if (!page.hasMore) return all;
      }
    },
    /** Until every event is numbered and no delivery is on its way. */
    settled: () =>
      until(
        () =>
          world.db.query(
            `select event_id from outbox where number is null
             union all select d.id from webhook_delivery d join webhook_endpoint e on e.id = d.endpoint_id
             where d.state = 'pending' and e.state = 'enabled'`,
          ),
        (open) => open.length === 0,
      ),
    /** Nothing of the test before this one is sent any more. */
    async clear(): Promise<void> {
      await world.db.query(`update webhook_endpoint set state = 'deleted'`);
      await world.db.query(
        `update webhook_delivery set state = 'failed', due_at = null, ended_at = now() where state = 'pending'`,
      );
      await Promise.all(receivers.splice(0).map((receiver) => receiver.stop().catch(() => null)));
    },
  };
}
