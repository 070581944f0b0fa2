import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import { NEWEST_STABLE } from "#server/contract/version.ts";
import type { Database } from "#server/db/client.ts";
import { issueKey, registerApp } from "#server/db/credentials.ts";
import { newId } from "#server/platform/ids.ts";
import { newSolanaKey } from "./solana-world.ts";

/** What the demo made and cannot read back from the database: keys are stored as digests only. */
export const demoSchema = z.object({
  partnerId: z.string(),
  merchants: z.array(
    z.object({
      id: z.string(),
      apiKey: z.string(),
      flow: z.enum(["intermediary", "direct"]),
      destination: z.string(),
      /** Account on Solana; absent in worlds made before there was one. */
      solanaDestination: z.string().optional(),
    }),
  ),
  gateway: z.object({ apiKey: z.string(), appId: z.string() }),
  /** A key for all of the partner's merchants; worlds made before there was one get it at their next start. */
  partner: z.object({ id: z.string(), apiKey: z.string() }).optional(),
});

export type Demo = z.infer<typeof demoSchema>;

type Seed = {
  name: string;
  flow: "intermediary" | "direct";
  feeBps?: number;
  feeFixedCents?: number;
  schedule?: "instant" | "batched";
};

/** The account of a merchant on the chain of an asset. */
const accountOn = (asset: string, to: { destination: string; solanaDestination: string }): string =>
  `${asset.slice(0, asset.indexOf("/"))}:${asset.startsWith("solana:") ? to.solanaDestination : to.destination}`;

/** Gives merchants destinations on the Solana chain that runs now, instead of those on one that is gone. */
export async function seedSolanaDestinations(
  db: Database,
  merchants: Demo["merchants"],
  assets: string[],
): Promise<void> {
  for (const { id, destination, solanaDestination = newSolanaKey().address } of merchants) {
    await db.prisma.settlement_destination.deleteMany({
      where: { merchant_id: id, asset: { startsWith: "solana:", notIn: assets } },
    });
    await db.prisma.settlement_destination.createMany({
      data: assets
        .filter((asset) => asset.startsWith("solana:"))
        .map((asset) => ({
          id: newId("destination"),
          merchant_id: id,
          asset,
          destination: accountOn(asset, { destination, solanaDestination }),
        })),
      skipDuplicates: true,
    });
  }
}

/** One merchant with a fresh account of its own as destination for every asset, and a key; nothing else holds that account. */
export async function seedMerchant(
  db: Database,
  world: { partnerId: string; pepper: string; assets: string[]; environment?: "test" | "live" },
  seed: Seed,
): Promise<Demo["merchants"][number]> {
  const id = newId("merchant");
  const environment = world.environment ?? "test";
  const destination = privateKeyToAccount(generatePrivateKey()).address.toLowerCase();
  const solanaDestination = newSolanaKey().address;
  await db.prisma.merchant.create({
    data: {
      id,
      partner_id: world.partnerId,
      environment,
      name: seed.name,
      flow: seed.flow,
      fee_bps: seed.feeBps ?? 0,
      fee_fixed_cents: seed.feeFixedCents ?? 0,
      settlement_schedule: seed.schedule ?? "instant",
      destinations: {
        create: world.assets.map((asset) => ({
          id: newId("destination"),
          asset,
          destination: accountOn(asset, { destination, solanaDestination }),
        })),
      },
    },
  });
  const { key } = await issueKey(db.query, world.pepper, {
    partnerId: world.partnerId,
    merchantId: id,
    environment,
    scopes: ["merchant"],
  });
  return { id, apiKey: key, flow: seed.flow, destination, solanaDestination };
}

/** A key that manages the partner's merchants and sees the payments of all of them. */
export async function seedPartnerKey(
  db: Database,
  world: { partnerId: string; pepper: string; environment?: "test" | "live" },
): Promise<NonNullable<Demo["partner"]>> {
  const { key } = await issueKey(db.query, world.pepper, {
    partnerId: world.partnerId,
    merchantId: null,
    environment: world.environment ?? "test",
    scopes: ["merchant"],
    name: "Demo Partner",
  });
  return { id: world.partnerId, apiKey: key };
}

/** The demo: one partner, a merchant per flow with destinations for every asset, the partner's own key, a wallet key and a wallet app. */
export async function seedDemo(
  db: Database,
  world: { pepper: string; assets: string[]; environment?: "test" | "live" },
): Promise<Demo> {
  const partnerId = newId("partner");
  const environment = world.environment ?? "test";
  await db.prisma.partner.create({
    data: { id: partnerId, name: "Demo Partner", api_version: NEWEST_STABLE },
  });
  const merchants = [
    await seedMerchant(
      db,
      { ...world, partnerId },
      { name: "Demo Shop", flow: "intermediary", feeBps: 40 },
    ),
    await seedMerchant(db, { ...world, partnerId }, { name: "Demo Direct", flow: "direct" }),
  ];
  const { key } = await issueKey(db.query, world.pepper, {
    partnerId,
    merchantId: null,
    environment,
    scopes: ["gateway"],
  });
  const appId = await registerApp(db.query, { partnerId, environment, name: "Demo Wallet" });
  const partner = await seedPartnerKey(db, { ...world, partnerId });
  return { partnerId, merchants, gateway: { apiKey: key, appId }, partner };
}
