import { actors } from "#server/testing/api.ts";
import { askForData, newBuyer } from "#server/testing/collect.ts";
import type { TestServer, TestWorld } from "#server/testing/world.ts";

type Buyer = Awaited<ReturnType<typeof newBuyer>>;

/** A merchant that asks for data, and payments with an address of the form. */
export type FormShop = {
  world: TestWorld;
  server: TestServer;
  merchantHeaders: Record<string, string>;
  /** A payment of a new buyer, and the form's address for it. */
  open(options?: {
    value?: string;
    expiresAt?: number;
  }): Promise<{ id: string; buyer: Buyer; url: string }>;
};

/** Lets the world's merchant of the direct flow ask every buyer for data, so that its payments have forms. */
export async function openFormShop({
  world,
  server,
}: {
  world: TestWorld;
  server: TestServer;
}): Promise<FormShop> {
  const baseUrl = () => server.baseUrl;
  const api = actors(world, baseUrl);
  const flow = "direct";
  const asking = world.demo.merchants.find((merchant) => merchant.flow === flow);
  const settings = { merchantId: asking?.id ?? "", when: "always" } as const;
  await askForData(world, () => api.create({ flow }), settings);
  return {
    world,
    server,
    merchantHeaders: api.merchantHeaders(flow),
    async open(options = {}) {
      const buyer = await newBuyer(world, baseUrl);
      const id: string = (await api.create({ flow, ...options })).body.paymentId;
      const { collectData } = await buyer.option(id);
      if (collectData === null) throw new Error("no data is asked");
      return { id, buyer, url: collectData.url };
    },
  };
}
