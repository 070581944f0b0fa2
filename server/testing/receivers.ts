import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";

/** A webhook as it arrived; `at` is milliseconds of a clock that only runs forward. */
export type Received = {
  headers: IncomingHttpHeaders;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of many shapes and assert on each.
  body: any;
  at: number;
};

/** What a receiver does with a request it has read to the end. */
export type Behaviour = (response: ServerResponse, received: Received) => void;

export const take: Behaviour = (response) => void response.writeHead(204).end();
export const refuse =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  (response) =>
    void response.writeHead(status, headers).end("no");

/** A merchant's own server. `received` is what was taken with a 2xx status or otherwise, in order. */
export type Receiver = {
  url: string;
  received: Received[];
  /** The bodies of requests about one payment. */
  about(paymentId: string): Received["body"][];
  behave(behaviour: Behaviour): void;
  /** Refuses connections until `up`. */
  down(): Promise<void>;
  up(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts a receiver on this machine; by default it takes everything. */
export async function startReceiver(behaviour: Behaviour = take): Promise<Receiver> {
  let act = behaviour;
  let port = 0;
  const received: Received[] = [];
  let server: Server;
  const listen = () => {
    server = createServer(async (request, response) => {
      response.on("error", () => undefined);
      let text = "";
      for await (const chunk of request) text += chunk;
      const one = { headers: request.headers, text, body: JSON.parse(text), at: performance.now() };
      received.push(one);
      act(response, one);
    });
    return new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", () => {
        port = (server.address() as AddressInfo).port;
        resolve();
      });
    });
  };
  const close = () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    return closed;
  };
  await listen();
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    about: (paymentId) =>
      received.map(({ body }) => body).filter(({ data }) => data.payment_id === paymentId),
    behave(behaviour) {
      act = behaviour;
    },
    down: close,
    up: listen,
    stop: close,
  };
}

/** The event of a webhook whose signature is good; throws where it is not. */
export const verified = (secret: string, { text, headers }: Received) =>
  new Webhook(secret).verify(text, headers as Record<string, string>);
