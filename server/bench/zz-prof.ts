import { createMany, createText, shopHeaders, walletHeaders } from "./api.ts";
import { startBenchWorld } from "./bench-world.ts";
import { compare, measure } from "./compare.ts";
import { startFloor } from "./floor.ts";
import { startLoad } from "./load.ts";
import { requestText } from "./raw-http.ts";

const what = process.argv[2] ?? "status";
const world = await startBenchWorld();
const load = startLoad();
try {
  const server = await world.startServer({
    NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=/tmp/prof/${what} --cpu-prof-interval=200`,
  });
  const rounds = { rounds: 4, seconds: 2, connections: 32 };
  const pid = server.pid,
    port = server.port;
  const req = async () => {
    if (what === "create")
      return {
        expect: 201,
        request: { text: createText("/v1/merchant/payment", shopHeaders(world), null), values: {} },
      };
    if (what === "keyed")
      return {
        expect: 201,
        request: { text: createText("/v1/merchant/payment", shopHeaders(world), "x"), values: {} },
      };
    const ids = await createMany(world, server.baseUrl, 1000);
    const headers = what === "merchant" ? shopHeaders(world) : walletHeaders(world);
    return {
      expect: 200,
      request: {
        text: requestText("GET", `/v1/${what}/payment/{id}/status`, headers),
        values: { id: ids },
      },
    };
  };
  console.log(await measure(load, { pid, port, ...(await req()) }, rounds));
  await server.stop();
} finally {
  await load.stop();
  await world.stop();
}
