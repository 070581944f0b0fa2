/** Remembers answers for a short time and lets callers who ask meanwhile share one question; failures are not kept. */
export function shortCache<T>(lifeMs: number): (key: string, ask: () => Promise<T>) => Promise<T> {
  const kept = new Map<string, { until: number; answer: Promise<T> }>();
  return (key, ask) => {
    const now = performance.now();
    const known = kept.get(key);
    if (known !== undefined && known.until > now) return known.answer;
    if (kept.size > 10_000) kept.clear();
    const answer = ask();
    kept.set(key, { until: now + lifeMs, answer });
    answer.catch(() => kept.delete(key));
    return answer;
  };
}
