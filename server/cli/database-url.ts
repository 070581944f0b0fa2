import { Misuse } from "./command.ts";
import { readSandbox } from "./sandbox-file.ts";

/** The database an operator command works on: DATABASE_URL, or the running sandbox's; refuses when there is neither. */
export function settingsDatabaseUrl(): string {
  // biome-ignore lint/style/noProcessEnv: an operator command needs the database alone, not a server's whole configuration.
  const given = process.env.DATABASE_URL;
  if (given !== undefined && given !== "") return given;
  const found = readSandbox();
  if (found.kind === "found" && found.sandbox.databaseUrl !== undefined)
    return found.sandbox.databaseUrl;
  throw new Misuse("Set DATABASE_URL, or start a sandbox here with: npm start");
}
