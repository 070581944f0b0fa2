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
    const isPlain = error instanceof Error && error.message.startsWith("FAILPOINT:");
    if (error instanceof EnvError || isPlain) refuseStart(error.message);
    throw error;
  }
}

/** Ends the process because of its database. */
const refuseDatabase = (problems: string[]): never =>
  refuseStart(`The database is not usable:\n${problems.map((one) => `  - ${one}`).join("\n")}`);

function wordsOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(wordsOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}

/** SQLSTATE of a right that the role lacks. */
const isForbidden = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "42501";

/** Why the database cannot be used, in a line for an operator. */
const troubleOf = (error: unknown): string =>
  isForbidden(error)
    ? `the role of DATABASE_URL may not do what Florin does: ${wordsOf(error)}`
    : `DATABASE_URL: the database does not answer: ${wordsOf(error)}`;

/** Opens the process's parts, checks that the database may serve payments, and takes out chains and tokens that are not what they are said to be. */
export async function openChecked(settings: Env, options: { worker: boolean }): Promise<Container> {
  const opened = installContainer(openContainer(settings, options));
  const problems = await opened.checkDatabase().catch((error) => [troubleOf(error)]);
  if (problems.length > 0) refuseDatabase(problems);
  const [found] = await Promise.all([
    opened.verifyChains(),
    opened.queue.start(),
    // What was counted before a restart still counts.
    opened.limits.share(),
  ]).catch((error) => {
    if (opened.isOutage(error) || isForbidden(error)) return refuseDatabase([troubleOf(error)]);
    throw error;
  });
  for (const one of found) opened.log.warn(one);
  return opened;
}

/** Starts everything that happens without a request. */
export const openWorker = (parts: Container): Promise<Worker> =>
  startWorker(parts.services, parts.queue, parts.env.DATABASE_URL);
