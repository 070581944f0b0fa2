import type { DatabaseSync } from "node:sqlite";

const LOOK_AGAIN_MS = 50;

function tryLock(file: string): DatabaseSync | null {
  // Asked for here and not imported, so that an older Node says what it lacks.
  const sqlite = process.getBuiltinModule("node:sqlite");
  if (sqlite === undefined)
    throw new Error(
      `this is Node ${process.version} and Florin needs 24: put node_modules/.bin first on the PATH`,
    );
  const lock = new sqlite.DatabaseSync(file, { timeout: 0 });
  try {
    lock.exec("begin exclusive");
    return lock;
  } catch (error) {
    lock.close();
    if (error instanceof Error && /locked|busy/.test(error.message)) return null;
    throw error;
  }
}

/**
 * Holds `file` for one process at a time until the returned function is called. The system releases it when its holder dies, however
 * that happens, so no process id is ever judged. Null: somebody else held it for all of `waitMs`.
 */
export async function lockFile(file: string, waitMs: number): Promise<(() => void) | null> {
  const until = Date.now() + waitMs;
  for (;;) {
    const lock = tryLock(file);
    if (lock !== null) return () => void (lock.isOpen && lock.close());
    if (Date.now() >= until) return null;
    await new Promise((done) => setTimeout(done, LOOK_AGAIN_MS));
  }
}
