import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP proxy before PostgreSQL that can lose an answer or keep clients out. */
export type DatabaseProxy = {
  url: string;
  /** Breaks the next connection that sends `text`, once the server's answer to it is complete and before it is passed on. */
  loseAnswerTo(text: string): void;
  /** How many answers were lost. */
  lost(): number;
  /** Breaks and refuses connections whose first message names this; null: lets everybody in again. */
  keepOut(name: string | null): void;
  stop(): Promise<void>;
};

/** How PostgreSQL ends every answer: ReadyForQuery, with its length and one byte for the transaction's state. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5]);

const isComplete = (answer: Buffer): boolean => answer.subarray(-6, -1).equals(READY);

type Link = { client: Socket; server: Socket; first: string; losing: boolean };

const end = ({ client, server }: Link) => {
  client.destroy();
  server.destroy();
};

/** Starts a proxy before the database of `url`, on a port of its own. */
export async function startDatabaseProxy(url: string): Promise<DatabaseProxy> {
  const target = new URL(url);
  const links = new Set<Link>();
  let text: string | null = null;
  let out: string | null = null;
  let lost = 0;
  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    const link: Link = { client, server, first: "", losing: false };
    links.add(link);
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on("error", () => end(link));
      socket.on("close", () => {
        links.delete(link);
        end(link);
      });
    }
    client.on("data", (chunk) => {
      if (link.first === "") link.first = chunk.toString("latin1");
      if (out !== null && link.first.includes(out)) return end(link);
      if (text !== null && chunk.toString("latin1").includes(text)) {
        text = null;
        link.losing = true;
      }
      server.write(chunk);
    });
    server.on("data", (chunk) => {
      if (!link.losing) return void client.write(chunk);
      if (!isComplete(chunk)) return;
      lost += 1;
      end(link);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const own = new URL(url);
  own.hostname = "127.0.0.1";
  own.port = String((proxy.address() as AddressInfo).port);
  return {
    url: own.href,
    loseAnswerTo(next) {
      text = next;
    },
    lost: () => lost,
    keepOut(name) {
      out = name;
      if (name === null) return;
      for (const link of links) if (link.first.includes(name)) end(link);
    },
    async stop() {
      for (const link of links) end(link);
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
