/** Milliseconds between two tries while the server is out of reach: soon at first, then every 10 s. */
export const backoff = (failures: number): number => Math.min(10_000, 500 * 2 ** failures);

/** Waits this long, or until the browser says that the line is back. */
const lineOr = (ms: number) =>
  new Promise<void>((resolve) => {
    const go = () => {
      clearTimeout(timer);
      window.removeEventListener("online", go);
      resolve();
    };
    const timer = setTimeout(go, ms);
    window.addEventListener("online", go);
  });

/** Loads a part of the page's code, again and again until it comes: nobody has to load a page again because its line was gone for a moment. */
export async function loadCode<T>(load: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await load();
    } catch {
      await lineOr(backoff(failures));
    }
  }
}
