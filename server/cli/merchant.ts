import { parseArgs } from "node:util";
import { z } from "zod";
import { NEWEST_STABLE } from "#server/contract/version.ts";
import { createDatabase } from "#server/db/client.ts";
import { issueKey, registerApp } from "#server/db/credentials.ts";
import { accountId, assetId, parseAccount, parseAsset } from "#server/domain/asset/caip.ts";
import { env } from "#server/platform/env.ts";
import { newId } from "#server/platform/ids.ts";
import { brand } from "./merchant-brand.ts";
import { feeBps, feeFixedCents, schedule, terms } from "./merchant-terms.ts";

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
  name: z.string().min(1).max(256),
  flow: z.enum(["intermediary", "direct"]),
  schedule,
  feeBps,
  feeFixedCents,
});

/** Reads `asset=account` pairs; returns what is wrong with the first bad one as text. */
function readDestinations(pairs: string[]): { asset: string; destination: string }[] | string {
  const read = [];
  for (const pair of pairs) {
    const [left = "", right = ""] = pair.split("=");
    const asset = parseAsset(left);
    const account = parseAccount(right);
    if (asset === null) return `not an asset: ${left}`;
    if (account === null) return `not an account: ${right}`;
    if (account.chain !== asset.chain) return `the account of ${left} is on another chain`;
    if (account.address === asset.reference) return `${left} would be sent to its own contract`;
    read.push({ asset: assetId(asset), destination: accountId(account) });
  }
  return read.length === 0 ? "at least one --destination is needed" : read;
}

function fail(message: string): never {
  process.stderr.write(`${message}\n\n${USAGE}`);
  process.exit(2);
}

function readOptions() {
  try {
    return parseArgs({
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
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

async function main(): Promise<void> {
  const values = readOptions();
  const parsed = input.safeParse({
    ...values,
    feeBps: values["fee-bps"],
    feeFixedCents: values["fee-fixed-cents"],
  });
  if (!parsed.success)
    fail(parsed.error.issues.map((i) => `--${i.path.join(".")}: ${i.message}`).join("\n"));
  const destinations = readDestinations(values.destination);
  if (typeof destinations === "string") fail(destinations);
  const settings = env();
  const environment = values.test || settings.FLORIN_MODE !== "live" ? "test" : "live";
  const db = createDatabase(settings.DATABASE_URL, { max: 2 });
  const { name, flow } = parsed.data;
  const partnerId = values.partner ?? newId("partner");
  const id = newId("merchant");
  if (values.partner !== undefined) {
    const known = await db.prisma.partner.count({ where: { id: partnerId } });
    if (known === 0) fail(`There is no partner ${partnerId}.`);
  } else
    await db.prisma.partner.create({ data: { id: partnerId, name, api_version: NEWEST_STABLE } });
  await db.prisma.merchant.create({
    data: {
      id,
      partner_id: partnerId,
      environment,
      name,
      flow,
      fee_bps: parsed.data.feeBps,
      fee_fixed_cents: parsed.data.feeFixedCents,
      settlement_schedule: parsed.data.schedule,
      destinations: { create: destinations.map((d) => ({ id: newId("destination"), ...d })) },
    },
  });
  const owner = { partnerId, environment } as const;
  const pepper = settings.FLORIN_KEY_PEPPER;
  const secret = await issueKey(db.query, pepper, {
    ...owner,
    merchantId: id,
    scopes: ["merchant"],
  });
  const wallet = await issueKey(db.query, pepper, {
    ...owner,
    merchantId: null,
    scopes: ["gateway"],
  });
  const appId = await registerApp(db.query, { ...owner, name: `${name} wallets` });
  await db.close();
  const made = { merchantId: id, partnerId, apiKey: secret.key, gatewayKey: wallet.key, appId };
  process.stdout.write(`${JSON.stringify(made, null, 2)}\n`);
}

const [command, ...words] = process.argv.slice(2);
if (command === "brand") process.exitCode = await brand(words);
else if (command === "terms") process.exitCode = await terms(words);
else await main();
