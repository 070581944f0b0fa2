import { readSandbox } from "./sandbox-file.ts";

/** The database an operator command works on: DATABASE_URL, or the running sandbox's; ends the command when there is neither. */
export function settingsDatabaseUrl(): string {
  // biome-ignore lint/style/noProcessEnv: an operator command needs the database alone, not a server's whole configuration.
  const given = process.env.DATABASE_URL;
  if (given !== undefined && given !== "") return given;
  const found = readSandbox();
  if (found.kind === "found" && found.sandbox.databaseUrl !== undefined)
    return found.sandbox.databaseUrl;
  process.stderr.write("Set DATABASE_URL, or start a sandbox here with: npm start\n");
  process.exit(2);
}
