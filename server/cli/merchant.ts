import { parseArgs } from "node:util";
import { z } from "zod";
import { text } from "#server/contract/shapes.ts";
import { NEWEST_STABLE } from "#server/contract/version.ts";
import { createDatabase, type Query } from "#server/db/client.ts";
import { issueKey, registerApp } from "#server/db/credentials.ts";
import { merchantTx } from "#server/db/merchants.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { type Env, env } from "#server/platform/env.ts";
import { newId } from "#server/platform/ids.ts";
import { createLog } from "#server/platform/log.ts";
import { readDestinations } from "#server/usecases/settlement-destinations.ts";
import { Misuse, runCommand } from "./command.ts";
import { BRAND_USAGE, brand } from "./merchant-brand.ts";
import { feeBps, feeFixedCents, schedule, TERMS_USAGE, terms } from "./merchant-terms.ts";

const USAGE = `Creates a merchant with its keys, which are shown once.

  npm run merchant -- --name "My Shop" --destination <asset>=<account> [--destination …]
      [--flow intermediary|direct] [--fee-bps 0] [--fee-fixed-cents 0] [--schedule instant|batched]
      [--partner par_…] [--test]

An asset is CAIP-19 (eip155:8453/erc20:0x…), an account CAIP-10 on the same chain (eip155:8453:0x…).
Settings come from the environment, as for the server: see .env.example.

  npm run merchant -- brand --help
      changes the name, icon, colour and frame origins of a merchant's pages
  npm run merchant -- terms --help
      changes fees, settlement schedule, and when buyers must give data or prove their account
`;

const input = z.object({
  name: text(1, 256),
  flow: z.enum(["intermediary", "direct"]),
  schedule,
  "fee-bps": feeBps,
  "fee-fixed-cents": feeFixedCents,
});

type Input = z.output<typeof input>;
type Destination = { asset: string; destination: string };
type Environment = "test" | "live";

function fail(message: string): never {
  throw new Misuse(`${message}\n\n${USAGE}`);
}

const readWords = (args: string[]) =>
  parseArgs({
    args,
    options: {
      name: { type: "string" },
      destination: { type: "string", multiple: true, default: [] },
      flow: { type: "string", default: "intermediary" },
      schedule: { type: "string", default: "instant" },
      "fee-bps": { type: "string", default: "0" },
      "fee-fixed-cents": { type: "string", default: "0" },
      partner: { type: "string" },
      test: { type: "boolean", default: false },
    },
  }).values;

/** Reads `asset=account` pairs as they are written. */
function readPairs(pairs: string[]): Destination[] {
  if (pairs.length === 0) fail("at least one --destination is needed");
  return pairs.map((pair) => {
    const [asset = "", destination, ...more] = pair.split("=");
    if (destination === undefined || more.length > 0)
      return fail(`--destination ${pair}: must be <asset>=<account>`);
    return { asset, destination };
  });
}

/** The pairs in canonical spelling, by the rules that partners' calls are held to: what a server would not pay out to is refused. */
async function checkPairs(
  settings: Env,
  environment: Environment,
  wanted: Destination[],
): Promise<Destination[]> {
  // What speaks to chains takes longer to load than all the rest, and only this needs it.
  const { createChains } = await import("#server/chains/index.ts");
  const { chains, verify } = createChains(settings, createLog("silent"));
  const notOffered = await verify();
  const { entries, findings } = readDestinations(chains, environment, wanted);
  if (findings.length === 0) return entries;
  const lines = findings.map(
    ({ at, member, message }) =>
      `--destination: ${member === "asset" ? "the asset" : "the account"} ${wanted[at]?.[member]} ${message}`,
  );
  return fail([...lines, ...notOffered].join("\n"));
}

type Wanted = {
  id: string;
  /** Null: a partner of its own. */
  partner: string | null;
  environment: Environment;
  pepper: string;
  input: Input;
  destinations: (Destination & { id: string })[];
};

async function ownPartner(query: Query, { partner, input: { name } }: Wanted): Promise<string> {
  if (partner === null) {
    const id = newId("partner");
    await query(`insert into partner (id, name, api_version) values ($1, $2, $3)`, [
      id,
      name,
      NEWEST_STABLE,
    ]);
    return id;
  }
  const [known] = await query(`select 1 from partner where id = $1`, [partner]);
  return known === undefined ? fail(`There is no partner ${partner}.`) : partner;
}

/** Makes the merchant with all that belongs to it, inside one transaction; returns what is shown once. */
async function create(query: Query, wanted: Wanted) {
  const { id, environment, pepper, input: given, destinations } = wanted;
  const tx = merchantTx(query);
  if ((await tx.lockMerchant(id)) !== null)
    throw new Misuse(
      `${id} was made, but the answer with its keys was lost. Issue new ones: npm run keys -- issue --merchant ${id}`,
    );
  const partnerId = await ownPartner(query, wanted);
  await tx.insertMerchant({
    id,
    partnerId,
    environment,
    name: given.name,
    email: null,
    iconUrl: null,
    flow: given.flow,
    settlementSchedule: given.schedule,
    collectWhen: "never",
    collectAboveCents: 0,
    proveOwnership: false,
  });
  await query(`update merchant set fee_bps = $2, fee_fixed_cents = $3 where id = $1`, [
    id,
    given["fee-bps"],
    given["fee-fixed-cents"],
  ]);
  await tx.insertDestinations(id, destinations);
  const owner = { partnerId, environment };
  const merchantKey = { ...owner, merchantId: id, scopes: ["merchant"] } as const;
  const walletKey = { ...owner, merchantId: null, scopes: ["gateway"] } as const;
  const { key: apiKey } = await issueKey(query, pepper, merchantKey);
  const { key: gatewayKey } = await issueKey(query, pepper, walletKey);
  const appId = await registerApp(query, { ...owner, name: `${given.name} wallets` });
  return { merchantId: id, partnerId, apiKey, gatewayKey, appId };
}

async function make(args: string[]): Promise<number> {
  const values = readWords(args);
  const parsed = input.safeParse(values);
  if (!parsed.success)
    fail(parsed.error.issues.map((i) => `--${i.path.join(".")}: ${i.message}`).join("\n"));
  const pairs = readPairs(values.destination);
  const settings = env();
  const environment = values.test || settings.FLORIN_MODE !== "live" ? "test" : "live";
  const checked = await checkPairs(settings, environment, pairs);
  // Outside of the transaction: a second run of it after a lost answer finds the rows of the first.
  const wanted: Wanted = {
    id: newId("merchant"),
    partner: values.partner ?? null,
    environment,
    pepper: settings.FLORIN_KEY_PEPPER,
    input: parsed.data,
    destinations: checked.map((one) => ({ id: newId("destination"), ...one })),
  };
  const db = createDatabase(settings.DATABASE_URL, { max: 1 });
  try {
    const made = await inTransaction(db.pool, (query) => create(query, wanted));
    process.stdout.write(`${JSON.stringify(made, null, 2)}\n`);
    return 0;
  } finally {
    await db.close();
  }
}

const [verb, ...rest] = process.argv.slice(2);
if (verb === "brand") await runCommand(BRAND_USAGE, brand, rest);
else if (verb === "terms") await runCommand(TERMS_USAGE, terms, rest);
else await runCommand(USAGE, make);
