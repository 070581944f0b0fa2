import { container } from "#server/container.ts";

/** Runs `work` with how long it may hold its caller: `waitMs`, or nothing when the key holds too many calls already. */
export async function withHold<T>(
  keyId: string,
  waitMs: number,
  work: (waitMs: number) => Promise<T>,
): Promise<T> {
  if (waitMs === 0) return work(0);
  const { heldByKey, env } = container();
  const held = heldByKey.get(keyId) ?? 0;
  if (held >= env.FLORIN_HELD_PER_KEY) return work(0);
  heldByKey.set(keyId, held + 1);
  try {
    return await work(waitMs);
  } finally {
    const left = (heldByKey.get(keyId) ?? 1) - 1;
    if (left === 0) heldByKey.delete(keyId);
    else heldByKey.set(keyId, left);
  }
}
