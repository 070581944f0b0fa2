import { expect } from "vitest";
import { nativeShop } from "../native/shop.ts";
import { settled } from "./checks.ts";
import { diedAt } from "./finish.ts";
import type { Stage } from "./stage.ts";

/** The process dies while a wallet hands in the hash of its own transfer; the money counts whether it repeats the call or not. */
export async function crashWhileClaiming(stage: Stage, point: string): Promise<void> {
  const armed = await stage.start({ armed: `${point}:exit@1` });
  const shop = nativeShop(stage.test, () => armed.baseUrl);
  const buyer = await shop.buyer();
  const id = await shop.created();
  const option = await shop.option(id, buyer);
  const hash = await shop.send(buyer, await shop.transfer(id, option));
  const confirm = shop.api().confirm(id, option.id, [hash]);
  await expect(confirm).rejects.toThrow(/fetch failed|terminated/);
  await diedAt(stage, armed, point);
  const server = await stage.start();
  const again = nativeShop(stage.test, () => server.baseUrl);
  expect((await again.api().confirm(id, option.id, [hash])).status).toBe(200);
  await settled(stage, id);
  expect(
    await stage.rows(`select tx_ref, status from capture where payment_id = $1`, [id]),
  ).toEqual([{ tx_ref: hash, status: "finalized" }]);
}
