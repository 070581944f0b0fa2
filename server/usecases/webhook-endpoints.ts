import { receiverProblem } from "#server/domain/webhook/receiver-url.ts";
import { AppError } from "#server/platform/app-error.ts";
import { newId } from "#server/platform/ids.ts";
import type { WebhookEndpoint } from "#server/ports/events.ts";
import type { Caller, Services } from "#server/ports/services.ts";
import type { IdempotencyClaim, StoredAnswer } from "#server/ports/store.ts";
import { runOnce } from "./run-once.ts";
import { newSealedSecret, openSecret } from "./webhook-secret.ts";

type Merchant = Caller & { kind: "merchant" };
type Once = Promise<{ answer: StoredAnswer; replayed: boolean }>;

const MOST_ENDPOINTS = 20;
/** How long a secret signs after it was replaced. */
const OLD_SECRET_S = 24 * 3600;
const ID = /^whe_[0-9A-Z]{1,60}$/;

const notFound = () => new AppError("not_found", "There is no such webhook endpoint");

function checkUrl(services: Services, url: string | undefined): void {
  if (url === undefined) return;
  const rule = services.env.FLORIN_MODE === "sandbox" ? "open" : "public";
  const message = receiverProblem(url, rule);
  if (message === null) return;
  throw new AppError("params_validation", `Validation error: url: ${message}`, {
    issues: [{ path: "url", field: "url", message }],
  });
}

/** Puts the secret into an answer on its way out: answers are stored, and a secret is stored sealed only. A refusal has none. */
async function withSecret(services: Services, { merchantId }: Merchant, done: Awaited<Once>): Once {
  if (done.answer.status >= 400) return done;
  const body = JSON.parse(done.answer.body) as { id: string };
  const endpoint = await services.store.webhookEndpoint(merchantId, body.id);
  const secret = endpoint === null ? "" : openSecret(services, endpoint.id, endpoint.secret);
  const { status } = done.answer;
  return { ...done, answer: { status, body: JSON.stringify({ ...body, secret }) } };
}

/** A new receiver; `render` is given it without its secret, which the answer gets on its way out. */
export async function createWebhookEndpoint(
  services: Services,
  caller: Merchant,
  asked: { url: string; description?: string | null | undefined; topics?: string[] | undefined },
  claim: IdempotencyClaim | null,
  render: (endpoint: WebhookEndpoint) => StoredAnswer,
): Once {
  checkUrl(services, asked.url);
  const { merchantId, environment } = caller;
  const { url, description = null, topics = [] } = asked;
  const done = await runOnce(services, claim, async (tx) => {
    const id = newId("webhookEndpoint");
    const secret = newSealedSecret(services, id);
    const made = await tx.insertWebhookEndpoint(
      { id, merchantId, environment, url, description, topics, secret },
      MOST_ENDPOINTS,
    );
    if (made === null)
      throw new AppError("invalid_state", `There are ${MOST_ENDPOINTS} webhook endpoints already`);
    return render(made);
  });
  return withSecret(services, caller, done);
}

/** The merchant's receivers, oldest first. */
export const listWebhookEndpoints = (
  services: Services,
  { merchantId }: Merchant,
): Promise<WebhookEndpoint[]> => services.store.webhookEndpoints(merchantId);

/** One receiver of this merchant; foreign, deleted and missing ones are refused alike. */
export async function findWebhookEndpoint(
  services: Services,
  { merchantId }: Merchant,
  id: string,
): Promise<WebhookEndpoint> {
  const found = ID.test(id) ? await services.store.webhookEndpoint(merchantId, id) : null;
  if (found === null) throw notFound();
  return found;
}

/** Changes what is named; members that are undefined stay. */
export async function updateWebhookEndpoint(
  services: Services,
  caller: Merchant,
  id: string,
  patch: {
    url?: string | undefined;
    description?: string | null | undefined;
    topics?: string[] | undefined;
    state?: "enabled" | "disabled" | undefined;
  },
): Promise<WebhookEndpoint> {
  checkUrl(services, patch.url);
  const changed = ID.test(id)
    ? await services.store.transaction((tx) =>
        tx.changeWebhookEndpoint(caller.merchantId, id, patch),
      )
    : null;
  if (changed === null) throw notFound();
  return changed;
}

/** Removes a receiver; doing it again changes nothing. */
export async function deleteWebhookEndpoint(
  services: Services,
  { merchantId }: Merchant,
  id: string,
): Promise<void> {
  const known =
    ID.test(id) &&
    (await services.store.transaction((tx) => tx.deleteWebhookEndpoint(merchantId, id)));
  if (!known) throw notFound();
}

/** Gives a receiver a new secret; a repetition under the same claim gets the secret that counts then. */
export async function rotateWebhookSecret(
  services: Services,
  caller: Merchant,
  id: string,
  claim: IdempotencyClaim | null,
  render: (endpoint: WebhookEndpoint) => StoredAnswer,
): Once {
  const done = await runOnce(services, claim, async (tx) => {
    const changed = ID.test(id)
      ? await tx.rotateWebhookSecret(
          caller.merchantId,
          id,
          newSealedSecret(services, id),
          OLD_SECRET_S,
        )
      : null;
    if (changed === null) throw notFound();
    return render(changed);
  });
  return withSecret(services, caller, done);
}
