import { type Container, installContainer, openContainer } from "#server/container.ts";
import { startWorker, type Worker } from "#server/jobs/worker.ts";
import { type Env, EnvError, env } from "#server/platform/env.ts";
import { armFailpoints } from "#server/platform/failpoint.ts";

/** Says why a process cannot start, and ends it. */
export function refuseStart(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

/** The configuration, or the end of the process with every problem in one message. */
export function readSettings(): Env {
  try {
    const settings = env();
    armFailpoints(settings.FAILPOINT);
    return settings;
  } catch (error) {
    if (error instanceof EnvError) refuseStart(error.message);
    throw error;
  }
}

/** Opens the process's parts, checks that the database may serve payments, and takes out chains and tokens that are not what they are said to be. */
export async function openChecked(settings: Env, options: { worker: boolean }): Promise<Container> {
  const opened = installContainer(openContainer(settings, options));
  let problems: string[];
  try {
    problems = await opened.checkDatabase();
  } catch (error) {
    problems = [`DATABASE_URL: the database does not answer: ${String(error)}`];
  }
  if (problems.length > 0)
    refuseStart(`The database is not usable:\n${problems.map((one) => `  - ${one}`).join("\n")}`);
  const [found] = await Promise.all([
    opened.verifyChains(),
    opened.queue.start(),
    // What was counted before a restart still counts.
    opened.limits.share(),
  ]);
  for (const one of found) opened.log.warn(one);
  return opened;
}

/** Starts everything that happens without a request. */
export const openWorker = (parts: Container): Promise<Worker> =>
  startWorker(parts.services, parts.queue, parts.env.DATABASE_URL);
