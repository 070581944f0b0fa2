import { parseArgs } from "node:util";
import { z } from "zod";
import { createDatabase, type Database } from "#server/db/client.ts";
import { registerApp, revokeKey } from "#server/db/credentials.ts";
import {
  type AppFacts,
  holderOfMerchant,
  type Issued,
  issueNewKey,
  type KeyFacts,
  listApps,
  listKeys,
  revokeApp,
  rotateKey,
  type Scope,
} from "#server/db/keys.ts";
import { mode as modeSetting } from "#server/platform/env.ts";
import { Misuse, runCommand } from "./command.ts";
import { settingsDatabaseUrl } from "./database-url.ts";
import { plain } from "./plain.ts";
import { readWorldSecrets } from "./sandbox-file.ts";

const USAGE = `Manages the keys of merchants and wallets. A key is shown once, when it is made.

  npm run keys -- list [--partner par_…]
  npm run keys -- issue --merchant mer_… [--scope merchant] [--scope gateway] [--name "till 4"]
  npm run keys -- issue --partner par_… [--scope …] [--name …] [--test]
  npm run keys -- rotate <key id> [--keep-hours 24] [--name …]
      a second key with the same rights; the old one stops working after these hours
  npm run keys -- revoke <key id>
  npm run keys -- issue-app --partner par_… --name "My Wallet" [--test]
  npm run keys -- revoke-app <app id>

A key without --merchant is for every merchant of the partner. The scope is "merchant" unless one is given.
Settings are DATABASE_URL, FLORIN_KEY_PEPPER and FLORIN_MODE as for the server, or those of the sandbox running here.
`;

type Values = ReturnType<typeof readArguments>["values"];
type Command = { db: Database; values: Values; id: string };

const say = (line: string) => void process.stdout.write(`${line}\n`);

const readArguments = (args: string[]) =>
  parseArgs({
    args,
    allowPositionals: true,
    options: {
      partner: { type: "string" },
      merchant: { type: "string" },
      scope: { type: "string", multiple: true, default: ["merchant"] },
      name: { type: "string" },
      "keep-hours": { type: "string", default: "24" },
      test: { type: "boolean", default: false },
    },
  });

const scopesSchema = z
  .array(z.enum(["merchant", "gateway"], "--scope is merchant or gateway"))
  .transform((scopes): Scope[] => [...new Set(scopes)].toSorted());
const nameSchema = z.string().min(1, "--name is empty").max(100, "--name is too long").nullable();
const keepSchema = z
  .string()
  .regex(/^\d{1,3}(\.\d{1,6})?$/, "--keep-hours is a number of hours, 0 to 720")
  .transform(Number)
  .refine((hours) => hours <= 720, "--keep-hours is at most 720");

function read<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Misuse(parsed.error.issues.map(({ message }) => message).join("\n"));
}

/** A setting of the server, or of the sandbox here when this shell has none. */
function setting(name: string): string | null {
  // biome-ignore lint/style/noProcessEnv: an operator command needs a few settings, not a server's whole configuration.
  const value = process.env[name];
  return value === undefined || value === "" ? null : value;
}

function pepper(): string {
  const given = setting("FLORIN_KEY_PEPPER");
  if (given !== null) return given;
  const secrets = setting("DATABASE_URL") === null ? readWorldSecrets() : null;
  if (secrets !== null) return secrets.pepper;
  throw new Misuse(
    "Set FLORIN_KEY_PEPPER to the server's, or start a sandbox here with: npm start",
  );
}

/** Which money a key or app without a merchant is for: real money on a live server only. */
function environmentOf(values: Values): "test" | "live" {
  if (values.test || setting("DATABASE_URL") === null) return "test";
  const mode = modeSetting.safeParse(setting("FLORIN_MODE") ?? undefined);
  if (!mode.success) throw new Misuse("FLORIN_MODE is live, staging or sandbox");
  return mode.data === "live" ? "live" : "test";
}

async function holderOf({ db, values }: Command) {
  if (values.merchant === undefined) {
    if (values.partner === undefined) throw new Misuse("--partner or --merchant is needed");
    return { partnerId: values.partner, merchantId: null, environment: environmentOf(values) };
  }
  const holder = await holderOfMerchant(db.query, values.merchant);
  if (holder === null) throw new Misuse(`There is no merchant ${values.merchant}.`);
  if (values.partner !== undefined && values.partner !== holder.partnerId)
    throw new Misuse(`${values.merchant} is not a merchant of ${values.partner}.`);
  return holder;
}

const REFUSALS: Record<Exclude<Issued["kind"], "issued">, string> = {
  unknown: "There is no such key or partner.",
  inactive: "That key does not work any more: issue a new one.",
  too_many: "Two such keys are active already: revoke one, or wait until it expires.",
};

function show(issued: Issued): number {
  if (issued.kind !== "issued") throw new Misuse(REFUSALS[issued.kind]);
  say(JSON.stringify({ id: issued.id, key: issued.key }, null, 2));
  return 0;
}

const time = (at: Date | null): string => at?.toISOString().slice(0, 19).concat("Z") ?? "-";

const keyLine = (key: KeyFacts): string =>
  [
    key.id,
    `${key.scopes.includes("merchant") ? "sk" : "gk"}_${key.environment}_…`,
    key.scopes.join("+"),
    key.environment,
    key.merchantId ?? key.partnerId,
    `created ${time(key.createdAt)}`,
    `used ${time(key.lastUsedAt)}`,
    key.revokedAt === null ? `expires ${time(key.expiresAt)}` : `revoked ${time(key.revokedAt)}`,
    key.active ? "active" : "ended",
    plain(key.name ?? ""),
  ].join("  ");

const appLine = (app: AppFacts): string =>
  [
    app.id,
    "app",
    app.environment,
    app.partnerId,
    `created ${time(app.createdAt)}`,
    app.revokedAt === null ? "active" : `revoked ${time(app.revokedAt)}`,
    plain(app.name),
  ].join("  ");

const COMMANDS: Record<string, (command: Command) => Promise<number>> = {
  async list({ db, values }) {
    const partner = values.partner ?? null;
    const keys = await listKeys(db.query, partner);
    const apps = await listApps(db.query, partner);
    for (const line of [...keys.map(keyLine), ...apps.map(appLine)]) say(line);
    if (keys.length + apps.length === 0) say("There are no keys and apps.");
    return 0;
  },
  async issue(command) {
    const scopes = read(scopesSchema, command.values.scope);
    const name = read(nameSchema, command.values.name ?? null);
    const holder = await holderOf(command);
    return show(await issueNewKey(command.db, pepper(), { ...holder, scopes, name }));
  },
  async rotate({ db, values, id }) {
    const keepS = read(keepSchema, values["keep-hours"]) * 3600;
    const name = read(nameSchema, values.name ?? null);
    return show(await rotateKey(db, pepper(), id, { keepS, name }));
  },
  async revoke({ db, id }) {
    const known = (await listKeys(db.query, null)).find((key) => key.id === id);
    if (known === undefined) throw new Misuse(REFUSALS.unknown);
    await revokeKey(db.query, id);
    say(`${id} is revoked.`);
    return 0;
  },
  async "issue-app"({ db, values }) {
    const name = read(nameSchema, values.name ?? null);
    if (values.partner === undefined || name === null)
      throw new Misuse("--partner and --name are needed");
    const [partner] = await db.query<{ id: string }>(`select id from partner where id = $1`, [
      values.partner,
    ]);
    if (partner === undefined) throw new Misuse(`There is no partner ${values.partner}.`);
    const environment = environmentOf(values);
    const appId = await registerApp(db.query, { partnerId: partner.id, environment, name });
    say(JSON.stringify({ appId }, null, 2));
    return 0;
  },
  async "revoke-app"({ db, id }) {
    if (!(await revokeApp(db.query, id))) throw new Misuse("There is no such active app.");
    say(`${id} is revoked.`);
    return 0;
  },
};

const NEED_ID = new Set(["rotate", "revoke", "revoke-app"]);

async function main(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args);
  const [verb = "list", id = ""] = positionals;
  const command = Object.hasOwn(COMMANDS, verb) ? COMMANDS[verb] : undefined;
  if (command === undefined || (NEED_ID.has(verb) && id === "")) throw new Misuse(USAGE);
  const db = createDatabase(settingsDatabaseUrl(), { max: 2 });
  try {
    return await command({ db, values, id });
  } finally {
    await db.close();
  }
}

await runCommand(USAGE, main);
