import { openChecked, openWorker, readSettings } from "./start-up.ts";
import { stopOnSignal } from "./stop.ts";

const settings = readSettings();
const parts = await openChecked(settings, { worker: true });
const worker = await openWorker(parts);
parts.state.phase = "serving";
stopOnSignal(
  async () => {
    parts.state.phase = "stopping";
    await worker.stop();
    await parts.close();
  },
  (error) => parts.log.error({ err: error }, "the stop was not clean"),
);
process.stdout.write(`Florin's worker is running (${settings.FLORIN_MODE})\n`);
