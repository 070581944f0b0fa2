import { databaseTrouble } from "#server/db/check-database.ts";
import { EnvError } from "#server/platform/env.ts";
import { endWithReader } from "./reader.ts";

/** What the caller has to change; its message is shown. */
export class Misuse extends Error {}

/** Exit code of a command that cannot be carried out. */
const CANNOT = 2;

/** Whether an error came of words that a command does not know. */
const isParseError = (error: Error): boolean =>
  "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");

/** The error with how the command is used, where the caller's words were wrong; else as it is. */
export const withUsage = (error: unknown, usage: string): unknown =>
  error instanceof Misuse || (error instanceof Error && isParseError(error))
    ? new Misuse(`${error.message}\n\n${usage}`)
    : error;

/** What went wrong, in words for an operator: never a stack trace. */
export function errorInWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof Misuse || error instanceof EnvError || isParseError(error))
    return error.message;
  // biome-ignore lint/style/noProcessEnv: whose role was refused is part of the sentence.
  const trouble = databaseTrouble(error, process.env.DATABASE_URL ?? "");
  return trouble ?? (error.message || error.name);
}

/** Whether the words of a command ask how it is used. */
export const asksForHelp = (words: string[]): boolean =>
  words.includes("--help") || words.includes("-h");

/**
 * Runs a command: `--help` prints its usage, and what goes wrong is one sentence. `work` gets the words and returns the exit code.
 */
export async function runCommand(
  usage: string,
  work: (words: string[]) => Promise<number>,
  words: string[] = process.argv.slice(2),
): Promise<void> {
  endWithReader();
  if (asksForHelp(words)) {
    process.stdout.write(usage);
    return;
  }
  try {
    process.exitCode = await work(words);
  } catch (error) {
    process.stderr.write(`${errorInWords(error).trimEnd()}\n`);
    process.exitCode = CANNOT;
  }
}
