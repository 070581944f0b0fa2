import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { checkDatabase } from "#server/db/check-database.ts";
import { createDatabase } from "#server/db/client.ts";
import { ROOT } from "./prepare.ts";

/** Applies the migrations a database lacks; asks the migration tool only when there are any, since it takes seconds. */
export async function migrate(url: string): Promise<void> {
  const db = createDatabase(url, { max: 2 });
  const problems = await checkDatabase(db).finally(() => db.close());
  if (problems.length === 0) return;
  const done = spawnSync(join(ROOT, "node_modules", ".bin", "prisma"), ["migrate", "deploy"], {
    cwd: ROOT,
    encoding: "utf8",
    env: { ...environment(), DATABASE_URL: url },
  });
  if (done.status !== 0)
    throw new Error(`the database could not be migrated:\n${done.stdout}${done.stderr}`);
}

/** The environment that child processes inherit. */
export function environment(): NodeJS.ProcessEnv {
  // biome-ignore lint/style/noProcessEnv: what is handed on to other programs, never a setting of ours.
  return { ...process.env, PATH: `${join(ROOT, "node_modules", ".bin")}:${process.env.PATH}` };
}
