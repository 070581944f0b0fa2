// A local Solana chain as a process of its own: it ends with this process and keeps nothing.
import { loadSurfnet } from "./surfpool.ts";

const [slotMs = "250"] = process.argv.slice(2);
const surfnet = loadSurfnet();
if (surfnet === null) {
  process.stderr.write("there is no Solana chain for this platform\n");
  process.exit(1);
}
const node = surfnet.startWithConfig({
  offline: true,
  blockProductionMode: "clock",
  slotTimeMs: Number(slotMs),
});
const stop = () => {
  try {
    node.stop();
  } finally {
    process.exit(0);
  }
};
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, stop);
// Events pile up in memory unless somebody takes them.
setInterval(() => node.drainEvents(), 1_000);
process.stdout.write(`Solana listening on ${node.rpcUrl}\n`);
