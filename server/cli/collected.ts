import { parseArgs } from "node:util";
import { createDatabase } from "#server/db/client.ts";
import { collectTx } from "#server/db/collect.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { readCollected, UnsealError } from "#server/usecases/read-collected.ts";
import { Misuse, runCommand } from "./command.ts";
import { settingsDatabaseUrl } from "./database-url.ts";
import { plain } from "./plain.ts";
import { readWorldSecrets } from "./sandbox-file.ts";

const USAGE = `Shows the personal data that was given for a payment. Every look is recorded for ever.

  FLORIN_DATA_SECRET=… npm run collected -- <paymentId> --reader <who> --reason "<why>"
`;

const REASON_MIN = 5;

function fail(message: string): never {
  throw new Misuse(`${message}\n\n${USAGE}`);
}

function readArguments(args: string[]) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { reader: { type: "string" }, reason: { type: "string" } },
  });
  const [paymentId = "", ...more] = positionals;
  const { reader = "", reason = "" } = values;
  if (paymentId === "" || more.length > 0) fail("Which payment? One id, please.");
  if (reader.trim() === "") fail("Who looks? Give --reader.");
  if (reason.trim().length < REASON_MIN) fail("Why? Give --reason in a few words.");
  return { paymentId, reader, reason };
}

/** FLORIN_DATA_SECRET, or that of the sandbox whose database is read; empty: neither is there. */
function settingsDataSecret(): string {
  // biome-ignore lint/style/noProcessEnv: the command needs this secret and the database, not a server's whole configuration.
  const { FLORIN_DATA_SECRET: given = "", DATABASE_URL: elsewhere = "" } = process.env;
  if (given !== "" || elsewhere !== "") return given;
  return readWorldSecrets()?.dataSecret ?? "";
}

async function main(args: string[]): Promise<number> {
  const { paymentId, reader, reason } = readArguments(args);
  const dataSecret = settingsDataSecret();
  if (dataSecret === "") fail("Set FLORIN_DATA_SECRET, the secret the server seals with.");
  const db = createDatabase(settingsDatabaseUrl(), { max: 1 });
  try {
    const fields = await readCollected(
      {
        transaction: (work) => inTransaction(db.pool, (query) => work(collectTx(query))),
        dataSecret,
      },
      paymentId,
      { reader, reason },
    );
    for (const { account, name, value } of fields)
      process.stdout.write(`${account}  ${name.padEnd(12)}  ${plain(value)}\n`);
    if (fields.length === 0) process.stdout.write("No personal data is held for this payment.\n");
    return fields.length === 0 ? 1 : 0;
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  } finally {
    await db.close();
  }
}

await runCommand(USAGE, main);
