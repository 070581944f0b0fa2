import { expect } from "vitest";
import { until } from "../api.ts";
import { expectInvariants } from "../native/invariants.ts";
import { makeBlock, signTransaction, solanaShop } from "../solana.ts";
import { createTestWorld } from "../world.ts";
import { ended } from "./stage.ts";

/** The last slots of a transaction's life, in which it is not taken any more. */
const MARGIN = 20;

type Shop = ReturnType<typeof solanaShop>;

/** The chain's clock. While it stands still, no lifetime runs down, however long a start takes; what is sent then is mined later. */
const clockOf = ({ rpc, chain }: Shop) => ({
  stop: () => rpc("surfnet_pauseClock"),
  goOn: () => rpc("surfnet_resumeClock"),
  height: () => rpc<number>("getBlockHeight", [{ commitment: "processed" }]),
  tick: () => makeBlock(chain().rpcUrl),
});

/**
 * A Solana transaction is handed out, and its lifetime runs down after the server was killed: it is refused, and the next fetch gives
 * one that is taken. That one is committed by a server which dies before it sends it, and the next server sends the same bytes.
 */
export async function lifetimeRunsDown(): Promise<void> {
  const world = await createTestWorld({ solana: { slotMs: 40 } });
  try {
    let server = await world.startServer();
    const shop = solanaShop(world, () => server);
    const clock = clockOf(shop);
    const buyer = await shop.newBuyer();
    const id = await shop.created();
    await clock.stop();
    const { option, transaction } = await shop.asked(id, buyer, "USDC");
    await server.kill();
    server = await world.startServer({ env: { FAILPOINT: "capture.after_commit_raw:exit" } });
    expect((await shop.fetchIt(id, option)).body.actions[0].data.params[0].transaction).toBe(
      transaction,
    );
    const { rows } = await world.db.pool.query(
      `select lapses_at::int as lapses from served_tx where option_id = $1`,
      [option.id],
    );
    while ((await clock.height()) <= rows[0].lapses - MARGIN) await clock.tick();
    expect(rows[0].lapses - (await clock.height())).toBe(MARGIN - 1);
    const late = await shop.confirm(id, option.id, [signTransaction(buyer, transaction)]);
    expect([late.status, late.body.code]).toEqual([409, "quote_expired"]);
    const fetched = await shop.fetchIt(id, option);
    const fresh = fetched.body.actions[0].data.params[0].transaction;
    expect(fresh).not.toBe(transaction);
    await shop.confirm(id, option.id, [signTransaction(buyer, fresh)]).catch(() => undefined);
    await ended(server);
    server = await world.startServer();
    await until(
      () => world.db.query(`select state from chain_intent where payment_id = $1`, [id]),
      ([intent]) => intent?.state === "broadcast",
    );
    await clock.goOn();
    expect((await shop.final(id)).body.status).toBe("succeeded");
    expect(await shop.tokens(buyer.address)).toBe(87_500_000n);
    await until(
      () => shop.details(id),
      ({ body }) => body.settlement?.successful?.txId !== undefined,
    );
    await expectInvariants(world);
  } finally {
    await world.stop();
  }
}
