import { webhookBody } from "#server/domain/webhook/envelope.ts";
import { delayAfter } from "#server/domain/webhook/schedule.ts";
import { signatureHeaders } from "#server/domain/webhook/signature.ts";
import { failpoint } from "#server/platform/failpoint.ts";
import type { ClaimedDelivery } from "#server/ports/events.ts";
import type { Services } from "#server/ports/services.ts";
import type { WebhookAnswer } from "#server/ports/webhook-sender.ts";
import { openSecret } from "./webhook-secret.ts";

/** Requests to one receiver at once; one that did not take the last event is tried alone. */
const PER_ENDPOINT = 2;
/** Requests at once altogether, and how many of them go to receivers that have not taken the last event. */
const ALTOGETHER = 200;
const FOR_UNPROVEN = 150;
/** Endpoints looked at in a turn: many more than there is room for, so that those to be skipped hide nobody. */
const LOOK_AT = 5_000;
/** A lane goes on with its endpoint's next delivery for this long, then others have a turn. */
const LANE_MS = 2_000;
/** Longer than any attempt takes: a delivery of a killed worker is tried again after this. */
const CLAIM_S = 30;
/** A stop lets requests under way finish for this long. */
const STOP_MS = 2_000;

/** The secrets that count for an endpoint, the newest first. */
function secretsOf(services: Services, { id, secret, oldSecret }: ClaimedDelivery["endpoint"]) {
  const sealed = oldSecret === null ? [secret] : [secret, oldSecret];
  return sealed.map((one) => openSecret(services, id, one));
}

/** A receiver took an event when its whole answer came with a 2xx status. */
const isTaken = ({ status, error }: WebhookAnswer): boolean =>
  error === null && status !== null && status >= 200 && status < 300;

/** Makes one attempt and notes it; false: the receiver did not take it, or the stop came first. */
async function attempt(
  services: Services,
  claimed: ClaimedDelivery,
  signal: AbortSignal,
): Promise<boolean> {
  const { endpoint, event } = claimed;
  const body = webhookBody(event);
  const timestamp = services.clock.now();
  const headers = {
    "content-type": "application/json",
    "user-agent": "Florin-Webhooks/1",
    ...signatureHeaders(event.id, timestamp, body, secretsOf(services, endpoint)),
  };
  await failpoint("webhook.before_send");
  const answer = await services.webhooks.send({ url: endpoint.url, headers, body }, signal);
  await failpoint("webhook.after_send");
  const taken = isTaken(answer);
  if (!taken && signal.aborted) {
    await services.store.releaseDelivery(claimed.id);
    return false;
  }
  const number = claimed.attempts + 1;
  const afterS = delayAfter(number);
  await services.store.finishAttempt(
    { id: claimed.id, number },
    {
      durationMs: answer.durationMs,
      requestHeaders: headers,
      responseStatus: answer.status,
      responseHeaders: answer.headers,
      responseBody: answer.body,
      error: answer.error,
    },
    taken
      ? { kind: "succeeded" }
      : afterS === null
        ? { kind: "failed" }
        : { kind: "again", afterS },
  );
  return taken;
}

/** Delivers what is due; `turn` starts what there is room for and does not wait for receivers. */
export type Deliverer = { turn(): Promise<void>; stop(): Promise<void> };

/**
 * The lanes of one worker process: each endpoint has its own, so that a slow one holds up nobody else. `laneEnded` is called when
 * there is room again.
 */
export function createDeliverer(services: Services, laneEnded: () => void): Deliverer {
  const lanes = new Map<string, number>();
  const proven = new Set<string>();
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();

  const room = (endpointId: string): number =>
    (proven.has(endpointId) ? PER_ENDPOINT : 1) - (lanes.get(endpointId) ?? 0);
  const follow = async (endpointId: string): Promise<void> => {
    const until = performance.now() + LANE_MS;
    do {
      const claimed = await services.store.claimDelivery(endpointId, CLAIM_S);
      if (claimed === null) return;
      const taken = await attempt(services, claimed, stopping.signal);
      if (!taken) {
        proven.delete(endpointId);
        return;
      }
      proven.add(endpointId);
    } while (performance.now() < until && !stopping.signal.aborted);
  };
  const start = (endpointId: string) => {
    lanes.set(endpointId, (lanes.get(endpointId) ?? 0) + 1);
    const lane = follow(endpointId)
      .catch((error) => services.log.warn({ endpointId, err: error }, "a delivery waits"))
      .finally(() => {
        const left = (lanes.get(endpointId) ?? 1) - 1;
        if (left === 0) lanes.delete(endpointId);
        else lanes.set(endpointId, left);
        running.delete(lane);
        laneEnded();
      });
    running.add(lane);
  };
  return {
    async turn() {
      const full = [...lanes.keys()].filter((id) => room(id) <= 0);
      let unproven = full.filter((id) => !proven.has(id)).length;
      for (const id of await services.store.endpointsDue(full, LOOK_AT)) {
        if (!proven.has(id) && ++unproven > FOR_UNPROVEN) continue;
        for (let n = room(id); n > 0 && running.size < ALTOGETHER; n--) start(id);
      }
    },
    async stop() {
      const late = setTimeout(() => stopping.abort(), STOP_MS);
      await Promise.all(running);
      clearTimeout(late);
    },
  };
}
