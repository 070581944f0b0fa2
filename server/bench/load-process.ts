import { connect, type Socket } from "node:net";
import { type LoadOrder, type LoadReport, monotonicMs } from "./load-messages.ts";
import { createAnswerReader, createRequestWriter, type RawAnswer } from "./raw-http.ts";

/** Most wrong answers a report quotes. */
const QUOTED = 3;
const OPEN_AT_ONCE = 100;

type Connection = { socket: Socket; hear: (answer: RawAnswer) => void };

/** Requests sent by this process so far, so that no number comes twice. */
let sent = 0;

function open(port: number, onBroken: (error: Error) => void): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    const connection: Connection = { socket, hear: () => undefined };
    const read = createAnswerReader((answer) => connection.hear(answer));
    socket.on("data", (chunk) => {
      try {
        read(chunk);
      } catch (error) {
        onBroken(error instanceof Error ? error : new Error(String(error)));
      }
    });
    socket.once("error", reject);
    socket.on("error", onBroken);
    socket.once("connect", () => resolve(connection));
  });
}

async function openMany(port: number, count: number, onBroken: (error: Error) => void) {
  const connections: Connection[] = [];
  while (connections.length < count) {
    const batch = Math.min(OPEN_AT_ONCE, count - connections.length);
    const made = Array.from({ length: batch }, () => open(port, onBroken));
    connections.push(...(await Promise.all(made)));
  }
  return connections;
}

async function run(order: LoadOrder & { kind: "run" }, fail: (error: Error) => void) {
  const write = createRequestWriter(order.request);
  const latenciesMs: number[] = [];
  const wrong: string[] = [];
  const connections = await openMany(order.port, order.connections, fail);
  const startedAt = monotonicMs();
  const end = startedAt + order.seconds * 1000;
  let endedAt = startedAt;
  const drive = (connection: Connection) =>
    new Promise<void>((resolve) => {
      let askedAt = 0;
      const ask = () => {
        askedAt = monotonicMs();
        connection.socket.write(write(sent++), "latin1");
      };
      connection.hear = ({ status, body }) => {
        const now = monotonicMs();
        latenciesMs.push(now - askedAt);
        if (status !== order.expect) wrong.push(`${status} ${body}`);
        endedAt = now;
        if (now < end) ask();
        else resolve();
      };
      ask();
    });
  await Promise.all(connections.map(drive));
  for (const { socket } of connections) socket.destroy();
  return {
    kind: "ran",
    seconds: (endedAt - startedAt) / 1000,
    latenciesMs,
    wrong: wrong.slice(0, QUOTED),
  } as const;
}

async function hold(
  order: LoadOrder & { kind: "hold" },
  say: (report: LoadReport) => void,
  fail: (error: Error) => void,
) {
  const write = createRequestWriter(order.request);
  const answeredAt: number[] = new Array(order.count).fill(Number.NaN);
  const wrong: string[] = [];
  const connections = await openMany(order.port, order.count, fail);
  const answers = connections.map(
    (connection, n) =>
      new Promise<void>((resolve) => {
        connection.hear = ({ status, body }) => {
          answeredAt[n] = monotonicMs();
          if (!body.includes(order.expect)) wrong.push(`${status} ${body}`);
          resolve();
        };
      }),
  );
  for (const [n, { socket }] of connections.entries()) socket.write(write(n), "latin1");
  say({ kind: "asked" });
  await Promise.all(answers);
  for (const { socket } of connections) socket.destroy();
  return { kind: "held", answeredAt, wrong: wrong.slice(0, QUOTED) } as const;
}

const say = (report: LoadReport) => void process.send?.(report);

process.on("message", (order: LoadOrder) => {
  const broke = (error: Error) => say({ kind: "broke", message: error.message });
  const work = order.kind === "run" ? run(order, broke) : hold(order, say, broke);
  work.then(say, broke);
});
process.on("disconnect", () => process.exit(0));
