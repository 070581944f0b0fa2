/** When blocks were seen: `arrivedAt` in milliseconds of this process's `performance.now()`, null for a block not seen. */
export type Blocks = {
  arrivedAt(number: bigint): number | null;
  /** The arrivals in order. */
  all(): number[];
  stop(): void;
};

const OPEN_WITHIN_MS = 10_000;

/** Listens to a local node's new heads, which it announces the moment a block is made. */
export async function watchBlocks(rpcUrl: string): Promise<Blocks> {
  const socket = new WebSocket(rpcUrl.replace(/^http/, "ws"));
  const seen = new Map<bigint, number>();
  socket.addEventListener("message", ({ data }) => {
    const now = performance.now();
    const said = JSON.parse(String(data));
    if (said.method !== "eth_subscription") return;
    const number = BigInt(said.params.result.number);
    if (!seen.has(number)) seen.set(number, now);
  });
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error("the node opens no WebSocket")),
      OPEN_WITHIN_MS,
    );
    socket.addEventListener("open", () => {
      clearTimeout(timer);
      resolve();
    });
    socket.addEventListener("error", () => {
      clearTimeout(timer);
      reject(new Error("the node refuses a WebSocket"));
    });
  });
  socket.send(
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params: ["newHeads"] }),
  );
  return {
    arrivedAt: (number) => seen.get(number) ?? null,
    all: () => [...seen.values()],
    stop: () => socket.close(),
  };
}
