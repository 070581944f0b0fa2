import { afterAll, beforeAll, expect, test } from "vitest";
import { submitCollected } from "#server/usecases/submit-collected.ts";
import { askForData, FORM, linkOf, withServices } from "./collect.ts";
import { changesNothing } from "./doors.ts";
import { nativeShop, type Option } from "./native/shop.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let server: TestServer;
const shop = () => nativeShop(world, () => server.baseUrl);

beforeAll(async () => {
  world = await createTestWorld({ native: true });
  server = await world.startServer();
  const asking = world.demo.merchants.find(({ flow }) => flow === "intermediary");
  await askForData(world, () => shop().api().create(), {
    merchantId: asking?.id ?? "",
    when: "always",
  });
});
afterAll(() => world?.stop());

// Guarantee: where the buyer's own wallet sends the money, the call that moves it is not handed out before the data is there; the transfer then proves the account.
test("a push option's transfer waits for the data", async () => {
  const buyer = await shop().buyer();
  const id = await shop().created();
  const option: Option & { collectData?: { url: string } } = await shop().option(id, buyer);
  const [build] = option.actions;
  const opaque = build?.type === "build" && "data" in build.data ? String(build.data.data) : "";
  await changesNothing(
    world.db,
    async () => {
      for (const data of ["", opaque])
        expect(await shop().fetch(id, option.id, data)).toMatchObject({
          status: 400,
          body: {
            code: "params_validation",
            message: expect.stringContaining("IC data required but not found: fullName"),
          },
        });
    },
    id,
  );
  const link = linkOf(option.collectData?.url ?? "");
  await withServices(world, (services) => submitCollected(services, { ...link, data: FORM }));
  const transfer = await shop().transfer(id, option);
  const before: typeof option = await shop().option(await shop().created(), buyer);
  expect(before.collectData).not.toBeNull();
  const hash = await shop().send(buyer, transfer);
  expect((await shop().api().confirm(id, option.id, [hash])).status).toBe(200);
  expect((await shop().final(id)).body.status).toBe("succeeded");
  const next: typeof option = await shop().option(await shop().created(), buyer);
  expect(next.collectData).toBeNull();
});
