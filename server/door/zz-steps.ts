import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { container, installContainer, openContainer } from "#server/container.ts";
import { createDatabase } from "#server/db/client.ts";
import { env } from "#server/platform/env.ts";
import { createDoor } from "./listener.ts";

const mode = process.argv[2];
let l: any;
if (mode === "a") {
  const db = createDatabase(env().DATABASE_URL);
  l = async (q: any, s: any) => {
    const id = q.url.split("/")[4];
    const { rows } = await db.pool.query({
      name: "p",
      text: "select * from payment where id=$1",
      values: [id],
    });
    const b = JSON.stringify({ status: (rows[0] as any).status });
    s.writeHead(200, { "content-type": "application/json", "content-length": b.length });
    s.end(b);
  };
} else {
  const c = installContainer(openContainer(env(), { worker: false }));
  c.state.phase = "serving";
  if (mode === "b")
    l = async (q: any, s: any) => {
      const id = q.url.split("/")[4];
      const p = await c.services.store.payment(id);
      const b = JSON.stringify({ status: p?.status });
      s.writeHead(200, { "content-type": "application/json", "content-length": b.length });
      s.end(b);
    };
  if (mode === "c")
    l = getRequestListener(async (q) => {
      const id = q.url.split("/")[6] ?? "";
      const p = await c.services.store.payment(id);
      const b = JSON.stringify({ status: p?.status });
      return new Response(b, { status: 200, headers: { "content-type": "application/json" } });
    });
  if (mode === "d") l = createDoor({ log: c.log, pages: () => null, isOpen: () => true });
}
createServer(l).listen(0, "127.0.0.1", function (this: any) {
  console.log("listening on http://127.0.0.1:" + this.address().port);
});
