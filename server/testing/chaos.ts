import { type Answer, actors, call, until } from "./api.ts";
import { type Parts, VICTIMS } from "./chaos-parts.ts";
import {
  type Ask,
  choosePurchase,
  confirmPurchase,
  createPurchase,
  headersOf,
  inLanes,
  type Purchase,
} from "./crowd.ts";
import type { TestWorld } from "./world.ts";

/** How long a client goes on repeating one call. */
const PATIENCE_MS = 60_000;
/** Between two tries of one call. */
const TRY_AGAIN_MS = 100;
/** How far a merchant's and a buyer's calls bring a purchase: created, chosen, confirmed, succeeded, settled. */
const STEPS = 5;
/** A kill comes up to this long after the step that brings it on. */
const MOST_DELAY_MS = 600;

/** Numbers from 0 to 1 that the seed alone decides. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The seed of this run: FLORIN_TEST_SEED, or a new one. */
export const seedOfRun = (): number =>
  Number(process.env.FLORIN_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const lostConnection = (error: unknown): boolean =>
  error instanceof TypeError && /fetch failed|terminated/.test(error.message);

/** What clients saw: lost connections, and answers that said to try again, by status. */
export type Troubles = Map<string, number>;

/** A client that repeats a call, always with the same words, until it is answered with less than 500. */
function insist(troubles: Troubles): Ask {
  const seen = (what: string) => troubles.set(what, (troubles.get(what) ?? 0) + 1);
  return async (call) => {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
      let answer: Answer | null = null;
      try {
        answer = await call();
      } catch (error) {
        if (!lostConnection(error)) throw error;
      }
      if (answer !== null && answer.status < 500) return answer;
      seen(answer === null ? "connection lost" : `${answer.status} ${answer.body.code}`);
      if (Date.now() > end)
        throw new Error(`no answer in time: ${answer?.text ?? "no connection"}`);
      await pause(TRY_AGAIN_MS);
    }
  };
}

/** A kill that happened: what had been done of all steps, and who was hit. */
export type Kill = { victim: string; steps: number; afterMs: number };

/** Decides from the seed alone after which steps, and how long after them, something is killed. */
function planKills(seed: number, kills: number, steps: number): Omit<Kill, "victim">[] {
  const next = random(seed);
  const share = steps / (kills + 1);
  return Array.from({ length: kills }, (_, n) => ({
    steps: Math.max(1, Math.round(share * (n + 0.25 + next()))),
    afterMs: Math.round(next() * MOST_DELAY_MS),
  }));
}

/** Kills as planned while `step` is called. */
function startKiller(parts: Parts, plan: Omit<Kill, "victim">[]) {
  const done: Kill[] = [];
  const under: Promise<void>[] = [];
  const waiting = [...plan];
  let steps = 0;
  // One after the other: a delay that runs when the next step is due is waited for.
  let last: Promise<void> = Promise.resolve();
  return {
    step() {
      steps++;
      for (
        let first = waiting[0];
        first !== undefined && first.steps <= steps;
        first = waiting[0]
      ) {
        const kill: Kill = { ...first, victim: VICTIMS[(plan.length - waiting.length) % 3] ?? "" };
        waiting.shift();
        last = last.then(async () => {
          await pause(kill.afterMs);
          await parts.kill(VICTIMS.find((victim) => victim === kill.victim) ?? "server");
          done.push(kill);
        });
        under.push(last);
      }
    },
    /** Resolves to the kills once all that came due are done. */
    async over() {
      await Promise.all(under);
      return done;
    },
  };
}

/**
 * Lets clients make every purchase and wait for its end, `atOnce` at a time, while parts are killed in turn at moments that `seed`
 * decides. Clients do what careful ones do: the same call again after a lost connection or a 5xx.
 */
export async function shopUnderKills(
  world: TestWorld,
  parts: Parts,
  options: { purchases: Purchase[]; kills: number; seed: number; atOnce: number },
): Promise<{ kills: Kill[]; troubles: Troubles }> {
  const { purchases, seed, atOnce } = options;
  const api = actors(world, parts.baseUrl);
  const troubles: Troubles = new Map();
  const ask = insist(troubles);
  const killer = startKiller(parts, planKills(seed, options.kills, purchases.length * STEPS));
  const buy = async (purchase: Purchase) => {
    await createPurchase(api, purchase, ask);
    killer.step();
    await choosePurchase(world, api, purchase, ask);
    killer.step();
    await confirmPurchase(api, purchase, ask);
    killer.step();
    const { id, shop } = purchase;
    const { body } = await until(
      () => ask(() => api.status(id, 2_000)),
      (answer) => answer.status !== 200 || answer.body.isFinal,
      PATIENCE_MS,
    );
    if (body.status !== "succeeded") throw new Error(`${purchase.key}: ${JSON.stringify(body)}`);
    // A wallet that is not sure it was heard confirms again; nothing may come of it.
    await confirmPurchase(api, purchase, ask);
    killer.step();
    if (shop.flow === "intermediary")
      await until(
        () =>
          ask(() =>
            call(parts.baseUrl(), "GET", `/v1/payments/${id}`, { headers: headersOf(shop) }),
          ),
        (answer) => answer.status !== 200 || answer.body.settlement?.successful != null,
        PATIENCE_MS,
      );
    killer.step();
  };
  await inLanes(purchases, atOnce, buy);
  return { kills: await killer.over(), troubles };
}
