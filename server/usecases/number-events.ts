import type { Services } from "#server/ports/services.ts";

const BATCH = 500;

/** Numbers every committed event and queues it for its receivers, batch by batch; returns how many. What is left of a batch is found again. */
export async function numberEvents(services: Services): Promise<number> {
  let all = 0;
  for (;;) {
    const numbered = await services.store.numberEvents(BATCH);
    all += numbered;
    if (numbered < BATCH) return all;
  }
}
