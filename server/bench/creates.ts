import { createText, shopHeaders } from "./api.ts";
import type { BenchServer, BenchWorld } from "./bench-world.ts";
import { type Compared, compare, type Rounds } from "./compare.ts";
import type { Floor } from "./floor.ts";
import type { Load } from "./load.ts";

/** Creates per second against the floor. `key`: every create has an Idempotency-Key, and the floor writes that row too. */
export async function measureCreates(
  load: Load,
  parts: { world: BenchWorld; server: BenchServer; floor: Floor },
  rounds: Rounds,
  { key }: { key: string | null },
): Promise<Compared> {
  const { world, server, floor } = parts;
  const headers = shopHeaders(world);
  return compare(
    load,
    {
      ours: {
        port: server.port,
        pid: server.pid,
        expect: 201,
        request: { text: createText("/v1/merchant/payment", headers, key), values: {} },
      },
      floor: {
        port: floor.port,
        pid: floor.pid,
        expect: 201,
        request: { text: createText("/", headers, key), values: {} },
      },
    },
    rounds,
  );
}
