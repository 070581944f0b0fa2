import { createDatabase } from "#server/db/client.ts";
import { liftHold, listStopped, retrySettlement } from "#server/db/operator.ts";
import { Misuse, runCommand } from "./command.ts";
import { settingsDatabaseUrl } from "./database-url.ts";

const USAGE = `Shows and releases what stands still until somebody has looked.

  npm run settlements                    holds on assets, and settlements that were refused
  npm run settlements -- lift <asset>    ends a hold ("*" is the hold on everything)
  npm run settlements -- retry <id>      puts a refused settlement up again, to the same destination
`;

const say = (line: string) => void process.stdout.write(`${line}\n`);

async function main([verb = "list", name = ""]: string[]): Promise<number> {
  if (!["list", "lift", "retry"].includes(verb) || (verb !== "list" && name === ""))
    throw new Misuse(USAGE);
  const db = createDatabase(settingsDatabaseUrl(), { max: 2 });
  try {
    if (verb === "lift") {
      const lifted = await liftHold(db, name);
      say(lifted ? `The hold on ${name} is lifted.` : `There is no hold on ${name}.`);
      return lifted ? 0 : 1;
    }
    if (verb === "retry") {
      const next = await retrySettlement(db, name);
      say(
        next === null ? `${name} is no blocked settlement.` : `${name} is tried again as ${next}.`,
      );
      return next === null ? 1 : 0;
    }
    const { holds, blocked } = await listStopped(db);
    for (const { asset, reason, since } of holds)
      say(`hold     ${asset}  since ${since.toISOString()}: ${reason}`);
    for (const s of blocked)
      say(`blocked  ${s.id}  ${s.amount} of ${s.asset} to ${s.destination}: ${s.detail ?? ""}`);
    if (holds.length + blocked.length === 0) say("Nothing stands still.");
    return 0;
  } finally {
    await db.close();
  }
}

await runCommand(USAGE, main);
