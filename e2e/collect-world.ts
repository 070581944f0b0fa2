import { test as base } from "@playwright/test";
import { actors } from "#server/testing/api.ts";
import { askForData, newBuyer } from "#server/testing/collect.ts";
import { createTestWorld, type TestServer, type TestWorld } from "#server/testing/world.ts";

type Buyer = Awaited<ReturnType<typeof newBuyer>>;

/** A merchant that asks for data, and payments with an address of the form. */
export type Shop = {
  world: TestWorld;
  server: TestServer;
  merchantHeaders: Record<string, string>;
  /** A payment of a new buyer, and the form's address for it. */
  open(options?: {
    value?: string;
    expiresAt?: number;
  }): Promise<{ id: string; buyer: Buyer; url: string }>;
};

async function openShop(): Promise<Shop> {
  const world = await createTestWorld();
  const server = await world.startServer({ pages: true });
  const baseUrl = () => server.baseUrl;
  const api = actors(world, baseUrl);
  const asking = world.demo.merchants.find(({ flow }) => flow === "intermediary");
  await askForData(world, () => api.create(), { merchantId: asking?.id ?? "", when: "always" });
  return {
    world,
    server,
    merchantHeaders: api.merchantHeaders("intermediary"),
    async open(options = {}) {
      const buyer = await newBuyer(world, baseUrl);
      const id: string = (await api.create(options)).body.paymentId;
      const { collectData } = await buyer.option(id);
      if (collectData === null) throw new Error("no data is asked");
      return { id, buyer, url: collectData.url };
    },
  };
}

/** Tests around one shop that all tests of a worker share. */
export const test = base.extend<object, { shop: Shop }>({
  shop: [
    // biome-ignore lint/correctness/noEmptyPattern: the runner reads fixtures from this pattern.
    async ({}, use) => {
      const shop = await openShop();
      await use(shop);
      await shop.world.stop();
    },
    { scope: "worker", timeout: 60_000 },
  ],
});
