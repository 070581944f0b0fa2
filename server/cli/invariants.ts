import { parseArgs } from "node:util";
import { errorInWords, runCommand } from "./command.ts";
import { openContext } from "./invariants/open.ts";
import { exitCodeOf, inWords, runChecks, summary } from "./invariants/run.ts";
import { readSettings } from "./invariants/settings.ts";

const USAGE = `Checks every invariant against the database and the chains, and changes nothing.

  npm run invariants              one line for each
  npm run invariants -- --json    one JSON document

Looks at DATABASE_URL and FLORIN_RPC_<chain id>, as the server does, or at the running sandbox of SANDBOX_DIR.
A line that is ok in part says what it leaves out, and why. Another node than the server's may be given. Exit code: 0 nothing is violated, 1 something is, 2 it could not be checked.
`;

const write = (text: string) => void process.stdout.write(`${text}\n`);

function readJson(args: string[]): boolean | null {
  try {
    const { values } = parseArgs({ args, options: { json: { type: "boolean", default: false } } });
    return values.json;
  } catch {
    // The usage says it better than the parser.
    return null;
  }
}

async function main(args: string[]): Promise<number> {
  const json = readJson(args);
  if (json === null) {
    process.stderr.write(USAGE);
    return 2;
  }
  try {
    // biome-ignore lint/style/noProcessEnv: a second node, without any key of the server, is a normal way to run this.
    const { context, close } = await openContext(readSettings(process.env));
    try {
      const lines = await runChecks(context, (line) => {
        if (!json) write(inWords(line));
      });
      const exitCode = exitCodeOf(lines);
      if (json) write(JSON.stringify({ exitCode, invariants: lines }, null, 2));
      else write(summary(lines));
      return exitCode;
    } finally {
      await close();
    }
  } catch (error) {
    // Whatever it was, it must not look like a violation.
    const text = errorInWords(error);
    if (json) write(JSON.stringify({ exitCode: 2, error: text, invariants: [] }, null, 2));
    else process.stderr.write(`${text}\n`);
    return 2;
  }
}

await runCommand(USAGE, main);
