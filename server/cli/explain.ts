import { createDatabase } from "#server/db/client.ts";
import { explainReads } from "#server/db/explain.ts";
import type { Explanation, Line } from "#server/domain/payment/explain.ts";
import { timeInWords } from "#server/domain/payment/in-words.ts";
import type { TimelineEntry } from "#server/domain/payment/timeline.ts";
import { explainToOperator, surroundings } from "#server/usecases/explain-payment.ts";
import { Misuse, runCommand } from "./command.ts";
import { settingsDatabaseUrl } from "./database-url.ts";
import { namesOf, readRegistry } from "./names.ts";

const USAGE = `Says why a payment is where it is, who can move it on and how, and what happened to it.

  npm run explain -- <paymentId>

Looks at DATABASE_URL with the names of FLORIN_REGISTRY_FILE, or at the running sandbox of SANDBOX_DIR. Changes nothing.
Exit code: 0 said, 1 there is no such payment, 2 it could not be looked at.
`;

/** What `FLORIN_SETTLEMENT_BATCH_S` is when it is not set. */
const BATCH_S = 3_600;

const say = (line: string) => void process.stdout.write(`${line}\n`);

function sayLine({ sentence, actor, nextStep, code }: Line): void {
  say(sentence);
  say(`  who   ${actor}`);
  say(`  next  ${nextStep}`);
  say(`  code  ${code}`);
}

function sayEntry({ at, text, data }: TimelineEntry): void {
  const ids = Object.entries(data)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${value}`);
  say(`  ${timeInWords(at)}  ${text}${ids.length === 0 ? "" : `  (${ids.join(", ")})`}`);
}

function sayAll(explanation: Explanation, timeline: TimelineEntry[]): void {
  sayLine(explanation);
  for (const note of explanation.notes) {
    say("");
    sayLine(note);
  }
  say("\nWhat happened:");
  for (const entry of timeline) sayEntry(entry);
}

async function main([paymentId, ...more]: string[]): Promise<number> {
  if (paymentId === undefined || paymentId.startsWith("-") || more.length > 0)
    throw new Misuse(USAGE);
  // biome-ignore lint/style/noProcessEnv: an operator command needs the database and names, not a server's whole configuration.
  const source = process.env;
  const db = createDatabase(settingsDatabaseUrl(), { max: 2 });
  try {
    const batchEveryS = Number(source.FLORIN_SETTLEMENT_BATCH_S ?? BATCH_S);
    const around = surroundings({ ...namesOf(readRegistry(source)), batchEveryS });
    const found = await explainToOperator(explainReads(db), around, paymentId);
    if (found === null) say(`There is no payment ${paymentId}.`);
    else sayAll(found.explanation, found.timeline);
    return found === null ? 1 : 0;
  } finally {
    await db.close();
  }
}

await runCommand(USAGE, main);
