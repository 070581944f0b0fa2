import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { environment } from "#server/sandbox/migrate.ts";
import { type Running, startProcess } from "#server/sandbox/process.ts";
import type { BenchWorld } from "./bench-world.ts";

/** What the floor writes that a server of ours would look up. */
export type FloorOrder = {
  databaseUrl: string;
  merchantId: string;
  /** As the merchant's payments carry them. */
  destinations: Record<string, string>;
  checkoutUrl: string;
};

/** A bare HTTP server over the same database. */
export type Floor = Running & { port: number };

/**
 * Starts the floor that a server is compared with: `node:http`, `pg`, one prepared statement per request. It checks nothing, knows
 * nobody and logs nothing, but parses and answers the same JSON and leaves the same rows: `POST /` and `GET /{paymentId}`.
 * It is started exactly as the server is: a system that shares its processors out by session (Linux's autogroup) otherwise
 * gives one of the two far more of them.
 */
export async function startFloor(world: BenchWorld, checkoutUrl: string): Promise<Floor> {
  const rows = await world.db.query<{ asset: string; destination: string }>(
    "select asset, destination from settlement_destination where merchant_id = $1",
    [world.shop.id],
  );
  const order: FloorOrder = {
    databaseUrl: world.world.databaseUrl,
    merchantId: world.shop.id,
    destinations: Object.fromEntries(rows.map((one) => [one.asset, one.destination])),
    checkoutUrl,
  };
  const file = join(world.world.dir, "floor.json");
  writeFileSync(file, JSON.stringify(order), { mode: 0o600 });
  const program = fileURLToPath(new URL("./floor-process.ts", import.meta.url));
  const running = await startProcess("floor", process.execPath, [program, file], {
    ready: /listening on http:\/\/\S+:(\d+)/,
    env: { ...environment(), NODE_ENV: "production" },
  });
  return { ...running, port: Number(running.ready[1]) };
}
