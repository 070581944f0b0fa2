import { createServer as createHttpServer, request } from "node:http";
import { type AddressInfo, connect, createServer, type Server } from "node:net";

/** Something between a server of ours and what it asks, which counts how often it waits for an answer. */
export type CountingProxy = { url: string; count(): number; stop(): Promise<void> };

const QUERY = "Q".charCodeAt(0);
const SYNC = "S".charCodeAt(0);

/**
 * Counts the round trips in what a client sends to PostgreSQL: simple queries, and syncs, each of which ends one extended query
 * (protocol 3.0, "Message Formats"). The first message of a connection has no type byte.
 */
export function createTripCounter(onTrip: () => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let begun = false;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const typeBytes = begun ? 1 : 0;
      if (rest.length < typeBytes + 4) return;
      const size = typeBytes + rest.readInt32BE(typeBytes);
      if (rest.length < size) return;
      if (begun && (rest[0] === QUERY || rest[0] === SYNC)) onTrip();
      begun = true;
      rest = rest.subarray(size);
    }
  };
}

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)),
  );

/** A proxy in front of the PostgreSQL of a URL. */
export async function countSql(url: string): Promise<CountingProxy> {
  const target = new URL(url);
  let trips = 0;
  const open = new Set<{ destroy(): void }>();
  const server = createServer((client) => {
    const upstream = connect({ port: Number(target.port), host: target.hostname, noDelay: true });
    client.setNoDelay(true);
    const look = createTripCounter(() => {
      trips++;
    });
    client.on("data", look);
    client.pipe(upstream);
    upstream.pipe(client);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(one);
      // Either side hangs up when it likes; the other is then told by the end of its stream.
      one.on("error", () => other.destroy());
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
    }
  });
  const own = new URL(url);
  own.port = String(await listen(server));
  return {
    url: own.href,
    count: () => trips,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const one of open) one.destroy();
      }),
  };
}

/** A proxy in front of a JSON-RPC node; a batch is one round trip. */
export async function countRpc(url: string): Promise<CountingProxy> {
  const target = new URL(url);
  let trips = 0;
  const server = createHttpServer((incoming, outgoing) => {
    trips++;
    const { hostname, port } = target;
    const upstream = request(
      { hostname, port, method: incoming.method, path: incoming.url, headers: incoming.headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    upstream.on("error", () => outgoing.destroy());
    incoming.pipe(upstream);
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    count: () => trips,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
