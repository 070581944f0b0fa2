import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const chain = z.object({
  caip2: z.string(),
  rpcUrl: z.url(),
  tokens: z.array(
    z.object({
      symbol: z.string(),
      caip19: z.string(),
      /** Contract address; the native coin has none. */
      address: z.string().nullish(),
      decimals: z.int().min(0),
      mechanism: z.string(),
    }),
  ),
});

const merchant = z.object({
  id: z.string(),
  apiKey: z.string(),
  flow: z.enum(["intermediary", "direct"]),
});

/** What a running sandbox tells programs about itself; unknown members are dropped. */
export const sandboxSchema = z.object({
  baseUrl: z.url(),
  checkoutUrl: z.url(),
  dashboard: z.object({ url: z.url(), email: z.string(), password: z.string() }).optional(),
  merchant,
  merchants: z.array(merchant),
  gateway: z.object({ apiKey: z.string(), appId: z.string().optional() }),
  chains: z.array(chain),
  accounts: z.array(z.object({ caip10: z.string(), privateKey: z.string(), holds: z.string() })),
  databaseUrl: z.string().optional(),
});

/** The local world: addresses, keys and accounts of one sandbox, all of them worthless elsewhere. */
export type Sandbox = z.infer<typeof sandboxSchema>;

/** The sandbox, or why there is none; `message` is a sentence for people. */
export type SandboxFile =
  | { kind: "found"; sandbox: Sandbox }
  | { kind: "missing" | "unusable"; message: string };

/** The directory the running sandbox writes to: `SANDBOX_DIR`, by default `.sandbox` here. */
export function sandboxDirectory(): string {
  // biome-ignore lint/style/noProcessEnv: the server's settings do not apply to a command that only finds a sandbox.
  const directory = process.env.SANDBOX_DIR;
  return directory === undefined || directory === "" ? ".sandbox" : directory;
}

const secretsShape = z.object({ pepper: z.string(), dataSecret: z.string() });

/** What a world of this folder knows of itself and no other program is told; null: there is none. */
export function readWorldSecrets(): z.infer<typeof secretsShape> | null {
  const path = join(sandboxDirectory(), "world.json");
  if (!existsSync(path)) return null;
  try {
    return secretsShape.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    throw new Error(
      `${path} cannot be read: set the server's own settings, or start with: npm start`,
    );
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error &&
  "code" in error &&
  (error.code === "ENOENT" || error.code === "ENOTDIR");

/** Reads `sandbox.json` of a sandbox directory. The file stays after a stop, so finding it proves nothing is running. */
export function readSandbox(directory: string = sandboxDirectory()): SandboxFile {
  const path = join(directory, "sandbox.json");
  try {
    const parsed = sandboxSchema.safeParse(JSON.parse(readFileSync(path, "utf8")));
    if (parsed.success) return { kind: "found", sandbox: parsed.data };
    const problems = parsed.error.issues.map(
      (issue) => `${issue.path.join(".")}: ${issue.message}`,
    );
    return { kind: "unusable", message: `${path} is not usable: ${problems.join("; ")}` };
  } catch (error) {
    if (!isMissing(error))
      return { kind: "unusable", message: `${path} cannot be read: ${String(error)}` };
    const message = `There is no ${path}: no sandbox was started here. Start one with: npm start (or set SANDBOX_DIR)`;
    return { kind: "missing", message };
  }
}
