import type { Container } from "#server/container.ts";
import type { PaymentStatus } from "#server/domain/payment/state.ts";
import { isFinal } from "#server/domain/payment/transitions.ts";
import type { Hangup, Waiter } from "#server/ports/wakeup.ts";

/** What a poll waits for: its payment to change beyond `version`. */
export type Poll = { keyId: string; paymentId: string; version: number; waitMs: number };

/** An answer that may come later. While it is held nothing but `read` is kept of the work that made it. */
export class Later<T> {
  readonly poll: Poll;
  /** The answer as it would be now; made only for a poll that is not held. */
  readonly now: () => T;
  /** The answer once the poll is over. */
  readonly read: () => Promise<T>;

  constructor(poll: Poll, now: () => T, read: () => Promise<T>) {
    this.poll = poll;
    this.now = now;
    this.read = read;
  }
}

/** Apart from its caller, so that it keeps nothing else of what that knows. */
const showAgain =
  <V, T>(read: () => Promise<V>, show: (view: V) => T): (() => Promise<T>) =>
  async () =>
    show(await read());

/** Shows what `read` finds: now if it is final or nobody waits, later if `waitMs` is given. */
export async function showWhenChanged<
  V extends { payment: { id: string; version: number; status: PaymentStatus } },
  T,
>(
  keyId: string,
  waitMs: number,
  read: () => Promise<V>,
  show: (view: V) => T,
): Promise<T | Later<T>> {
  const view = await read();
  const { id: paymentId, version, status } = view.payment;
  if (waitMs === 0 || isFinal(status)) return show(view);
  return new Later({ keyId, paymentId, version, waitMs }, () => show(view), showAgain(read, show));
}

function countFor(held: Map<string, number>, keyId: string, change: 1 | -1): void {
  const count = (held.get(keyId) ?? 0) + change;
  if (count === 0) held.delete(keyId);
  else held.set(keyId, count);
}

/** A poll that is held; calls `over` once, with whether its caller is still there. */
class Held implements Waiter {
  readonly paymentId: string;
  readonly version: number;
  readonly #keyId: string;
  readonly #parts: Container;
  readonly #hangup: Hangup;
  readonly #over: (isThere: boolean) => void;

  constructor(
    parts: Container,
    { paymentId, version, keyId }: Poll,
    hangup: Hangup,
    over: (isThere: boolean) => void,
  ) {
    this.paymentId = paymentId;
    this.version = version;
    this.#keyId = keyId;
    this.#parts = parts;
    this.#hangup = hangup;
    this.#over = over;
  }

  readonly #gone = (): void => {
    this.#parts.wakeup.drop(this);
    this.#end(false);
  };

  begin(): void {
    countFor(this.#parts.heldByKey, this.#keyId, 1);
    this.#hangup.addEventListener("abort", this.#gone);
  }

  wake(): void {
    this.#end(true);
  }

  #end(isThere: boolean): void {
    countFor(this.#parts.heldByKey, this.#keyId, -1);
    this.#hangup.removeEventListener("abort", this.#gone);
    this.#over(isThere);
  }
}

/**
 * Holds a poll until its payment changes, its time is over, its caller hangs up or the process stops, and then calls
 * `over` with whether anybody is still there. False: as many polls as may be are held already, and nothing is called.
 */
export function hold(
  parts: Container,
  poll: Poll,
  hangup: Hangup,
  over: (isThere: boolean) => void,
): boolean {
  const count = parts.heldByKey.get(poll.keyId) ?? 0;
  if (hangup.aborted || count >= parts.env.FLORIN_HELD_PER_KEY) return false;
  const held = new Held(parts, poll, hangup, over);
  if (!parts.wakeup.hold(held, poll.waitMs)) return false;
  held.begin();
  return true;
}
