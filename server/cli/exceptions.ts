import { createDatabase, type Database } from "#server/db/client.ts";
import { listExceptions, type OpenException, resolveException } from "#server/db/operator.ts";
import type { ExceptionKind } from "#server/domain/payment/evidence.ts";
import { inWords, timeInWords } from "#server/domain/payment/in-words.ts";
import { type Surroundings, tokenMoney } from "#server/domain/payment/surroundings.ts";
import { surroundings } from "#server/usecases/explain-payment.ts";
import { Misuse, runCommand } from "./command.ts";
import { settingsDatabaseUrl } from "./database-url.ts";
import { namesOf, readRegistry } from "./names.ts";
import { plain } from "./plain.ts";

const USAGE = `Shows money that is no payment as it was asked for, until somebody has dealt with it, and closes the records.

  npm run exceptions                       the open ones: what, how much, of which payment, since when
  npm run exceptions -- resolve <id> "<why>"    closes one for good, with the reason

Looks at DATABASE_URL with the names of FLORIN_REGISTRY_FILE, or at the running sandbox of SANDBOX_DIR. Moves no money.
Exit code: 0 done, 1 there is no such open exception, 2 it could not be done.
`;

const REASON_MIN = 5;

/** What each kind is, for who has to decide. */
const KINDS: Record<ExceptionKind, string> = {
  late: "came after the payment had ended",
  short: "came, less than was due",
  over: "came, more than was due",
  double: "came for a payment that was paid already",
  wrong_token: "came in another token than was asked for",
  unattributed: "came, and no offer explains it",
  orphaned: "was taken back by the network",
  unknown_outflow: "left one of our accounts, and Florin did not send it",
};

const say = (line: string) => void process.stdout.write(`${line}\n`);

function sayException(found: OpenException, around: Surroundings): void {
  const { id, kind, payment_id, asset, amount, tx_ref, detail, since } = found;
  const minor = BigInt(amount);
  const money = minor === 0n ? "An unknown amount" : inWords(tokenMoney({ asset, minor }, around));
  say(`${id}  ${money} ${KINDS[kind]}`);
  say(`  payment  ${payment_id ?? "none"}`);
  say(`  kind     ${kind}`);
  say(`  since    ${timeInWords(Math.floor(since.getTime() / 1_000))}`);
  say(`  where    ${found.chain}  ${tx_ref}`);
  say(`  detail   ${detail}`);
}

async function list(db: Database): Promise<number> {
  // biome-ignore lint/style/noProcessEnv: an operator command needs the database and names, not a server's whole configuration.
  const names = namesOf(readRegistry(process.env));
  const found = await listExceptions(db);
  for (const one of found) sayException(one, surroundings({ ...names, batchEveryS: 0 }));
  if (found.length === 0) say("No exception is open.");
  return 0;
}

async function resolve(db: Database, id: string, why: string): Promise<number> {
  const closed = await resolveException(db, id, why);
  say(closed ? `${id} is closed: ${plain(why)}` : `There is no open exception ${plain(id)}.`);
  return closed ? 0 : 1;
}

/** What is to be done. */
function readArguments([verb, id = "", why = "", ...more]: string[]): (
  db: Database,
) => Promise<number> {
  if (verb === undefined || (verb === "list" && id === "")) return list;
  if (verb !== "resolve" || id === "" || more.length > 0) throw new Misuse(USAGE);
  if (why.trim().length < REASON_MIN) throw new Misuse(`Why? Say it in a few words.\n\n${USAGE}`);
  return (db) => resolve(db, id, why.trim());
}

async function main(words: string[]): Promise<number> {
  const work = readArguments(words);
  const db = createDatabase(settingsDatabaseUrl(), { max: 2 });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

await runCommand(USAGE, main);
