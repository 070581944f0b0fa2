import { expect } from "vitest";
import { until } from "../api.ts";
import { expectInvariants } from "../native/invariants.ts";
import { signTransaction, solanaShop } from "../solana.ts";
import { createTestWorld } from "../world.ts";

/** Slots in which a transaction can land after its blockhash; the last of them are not taken any more. */
const LIFE = 150;
const MARGIN = 20;

/**
 * A Solana transaction is handed out, and its lifetime runs down while the server is killed: it is refused, and the next fetch gives
 * one that is taken. That one is committed by a server which dies before it sends it, and the next server sends the same bytes.
 */
export async function lifetimeRunsDown(): Promise<void> {
  const world = await createTestWorld({ solana: { slotMs: 40 } });
  try {
    let server = await world.startServer();
    const shop = solanaShop(world, () => server);
    const buyer = await shop.newBuyer();
    const id = await shop.created();
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
    const height = () => shop.rpc<number>("getBlockHeight", [{ commitment: "processed" }]);
    await until(height, (now) => now > rows[0].lapses - MARGIN);
    expect(rows[0].lapses - (await height())).toBeLessThan(LIFE);
    const late = await shop.confirm(id, option.id, [signTransaction(buyer, transaction)]);
    expect([late.status, late.body.code]).toEqual([409, "quote_expired"]);
    const fetched = await shop.fetchIt(id, option);
    const fresh = fetched.body.actions[0].data.params[0].transaction;
    expect(fresh).not.toBe(transaction);
    await shop.confirm(id, option.id, [signTransaction(buyer, fresh)]).catch(() => undefined);
    await server.exited;
    server = await world.startServer();
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
