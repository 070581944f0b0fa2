import { createDatabase } from "#server/db/client.ts";
import { hold, liftHold, listStopped, retrySettlement } from "#server/db/operator.ts";
import { assetId, parseAsset } from "#server/domain/asset/caip.ts";
import { Misuse, runCommand } from "./command.ts";
import { settingsDatabaseUrl } from "./database-url.ts";

const USAGE = `Shows and releases what stands still until somebody has looked.

  npm run settlements                    holds on assets, and settlements that were refused
  npm run settlements -- hold <asset> "<why>"    pays nothing out in an asset until the hold is lifted
  npm run settlements -- lift <asset>    ends a hold ("*" is the hold on everything)
  npm run settlements -- retry <id>      puts a refused settlement up again, to the same destination
`;

const say = (line: string) => void process.stdout.write(`${line}\n`);

/** The asset a hold is asked for, in the spelling of the books; other verbs take what is there. */
function assetOf(verb: string, name: string): string {
  if (verb !== "hold" || name === "*") return name;
  const asset = parseAsset(name);
  if (asset === null) throw new Misuse(`${name} is no CAIP-19 asset, and not "*".\n\n${USAGE}`);
  return assetId(asset);
}

async function main([verb = "list", name = "", reason = ""]: string[]): Promise<number> {
  if (!["list", "hold", "lift", "retry"].includes(verb) || (verb !== "list" && name === ""))
    throw new Misuse(USAGE);
  if (verb === "hold" && reason.trim() === "")
    throw new Misuse(`Say why, in quotes: it is shown to whoever lifts the hold.\n\n${USAGE}`);
  const asset = assetOf(verb, name);
  const db = createDatabase(settingsDatabaseUrl(), { max: 2 });
  try {
    if (verb === "hold") {
      const held = await hold(db.query, asset, reason.trim());
      say(held ? `Nothing is paid out in ${asset} now.` : `There is a hold on ${asset} already.`);
      return held ? 0 : 1;
    }
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
