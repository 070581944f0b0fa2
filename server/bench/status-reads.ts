import { shopHeaders, walletHeaders } from "./api.ts";
import type { BenchServer, BenchWorld } from "./bench-world.ts";
import { type Compared, compare, type Rounds } from "./compare.ts";
import type { Floor } from "./floor.ts";
import type { Load } from "./load.ts";
import { requestText } from "./raw-http.ts";

/** Status reads per second of payments that wait for their buyer, over `ids` in turn, against the floor. */
export async function measureStatusReads(
  load: Load,
  parts: { world: BenchWorld; server: BenchServer; floor: Floor },
  rounds: Rounds,
  { caller, ids }: { caller: "merchant" | "gateway"; ids: string[] },
): Promise<Compared> {
  const { world, server, floor } = parts;
  const headers = caller === "merchant" ? shopHeaders(world) : walletHeaders(world);
  const values = { id: ids };
  return compare(
    load,
    {
      ours: {
        port: server.port,
        pid: server.pid,
        expect: 200,
        request: { text: requestText("GET", `/v1/${caller}/payment/{id}/status`, headers), values },
      },
      floor: {
        port: floor.port,
        pid: floor.pid,
        expect: 200,
        request: { text: requestText("GET", "/{id}", headers), values },
      },
    },
    rounds,
  );
}
