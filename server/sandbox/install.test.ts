import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { environment } from "./migrate.ts";

/** A project whose packages of each kind are folders in it, so that npm needs no registry. */
function makeProject(): string {
  const root = mkdtempSync(join(tmpdir(), "florin-install-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const kinds = ["plain", "dev", "optional"];
  for (const name of kinds) {
    mkdirSync(join(root, name));
    writeFileSync(join(root, name, "package.json"), JSON.stringify({ name, version: "1.0.0" }));
  }
  const of = (name: string) => ({ [name]: `file:${name}` });
  const project = {
    name: "project",
    version: "1.0.0",
    dependencies: of("plain"),
    devDependencies: of("dev"),
    optionalDependencies: of("optional"),
  };
  const packages = Object.fromEntries([
    ["", project],
    ...kinds.flatMap((name) => [
      [name, { version: "1.0.0", [name]: name !== "plain" }],
      [`node_modules/${name}`, { resolved: name, link: true, [name]: name !== "plain" }],
    ]),
  ]);
  writeFileSync(join(root, "package.json"), JSON.stringify(project));
  writeFileSync(
    join(root, "package-lock.json"),
    JSON.stringify({ name: "project", version: "1.0.0", lockfileVersion: 3, packages }),
  );
  return root;
}

const INSTALL = `
  const { ensureInstalled } = await import(${JSON.stringify(join(import.meta.dirname, "install.mjs"))});
  await ensureInstalled(process.argv[1]);
`;

// Guarantee: what builds and runs the sandbox is installed whatever the shell tells npm to leave out.
test.for([
  { NODE_ENV: "production" },
  { npm_config_omit: "dev" },
  { npm_config_omit: "optional" },
  { npm_config_production: "true", npm_config_optional: "false" },
] as Record<string, string>[])("%j", (shell) => {
  const root = makeProject();
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "-e", INSTALL, root],
    { encoding: "utf8", env: { ...environment(), npm_config_offline: "true", ...shell } },
  );
  expect([status, stderr]).toEqual([0, expect.not.stringContaining("npm error")]);
  const found = ["plain", "dev", "optional"].filter((name) =>
    existsSync(join(root, "node_modules", name)),
  );
  expect(found).toEqual(["plain", "dev", "optional"]);
  expect(existsSync(join(root, "node_modules", ".florin-installed"))).toBe(true);
});
