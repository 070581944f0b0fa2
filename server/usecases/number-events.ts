import type { Services } from "#server/ports/services.ts";

const BATCH = 500;

/** Numbers every committed event and queues it for its receivers, batch by batch; what is left of a batch is found again. */
export async function numberEvents(services: Services): Promise<void> {
  while ((await services.store.numberEvents(BATCH)) === BATCH);
}
