import { hash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { z } from "zod";
import { createWebhookSender } from "#server/adapters/webhook-sender.ts";
import { listEvents } from "#server/contract/events.ts";
import { signatureHeaders, signingSecret } from "#server/domain/webhook/signature.ts";
import { type ListenArguments, readListenArguments } from "./listen-arguments.ts";
import { plain } from "./plain.ts";
import { endWithReader } from "./reader.ts";
import { readSandbox, type Sandbox } from "./sandbox-file.ts";

type Merchant = Sandbox["merchants"][number];
type Page = z.output<typeof listEvents.response>;
type Event = Page["data"][number];

const ASK_EVERY_MS = 300;
const TRY_EVERY_MS = 1_000;
const PAGE = 200;
/** A page that takes longer was lost on the way. */
const ANSWER_WITHIN_MS = 20_000;

const stopping = new AbortController();
const say = (line: string) => process.stdout.write(`${line}\n`);
const clock = () => new Date().toTimeString().slice(0, 8);

/** The same for a merchant each time, so that the program's setting stays right. */
const secretOf = ({ apiKey }: Merchant): string =>
  signingSecret(hash("sha256", `listen ${apiKey}`, "buffer"));

/** Says that something is away, once until it is back. */
function createComplaint() {
  let complained = false;
  return {
    away: (line: string) => {
      if (!complained) say(line);
      complained = true;
    },
    back: () => {
      complained = false;
    },
  };
}

async function askOnce(sandbox: Sandbox, merchant: Merchant, after: number): Promise<Page> {
  const response = await fetch(`${sandbox.baseUrl}/v1/events?after=${after}&limit=${PAGE}`, {
    headers: { "Api-Key": merchant.apiKey, "Merchant-Id": merchant.id },
    signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
  });
  const text = await response.text();
  if (!response.ok)
    throw new Error(`the server answered ${response.status}: ${text.slice(0, 200)}`);
  return listEvents.response.parse(JSON.parse(text));
}

/** A page of events, asked for until the server answers. */
async function ask(sandbox: Sandbox, merchant: Merchant, after: number): Promise<Page> {
  const server = createComplaint();
  for (;;) {
    try {
      return await askOnce(sandbox, merchant, after);
    } catch (error) {
      stopping.signal.throwIfAborted();
      const why = error instanceof Error ? error.message : String(error);
      server.away(`${clock()}  no events from ${sandbox.baseUrl} (${plain(why)}); trying again`);
      await pause(TRY_EVERY_MS, undefined, { signal: stopping.signal });
    }
  }
}

/** The number of the newest event. */
async function newest(sandbox: Sandbox, merchant: Merchant): Promise<number> {
  let page = await ask(sandbox, merchant, 0);
  while (page.hasMore) page = await ask(sandbox, merchant, page.nextAfter);
  return page.nextAfter;
}

/** Sends one event until somebody answers, and says what the answer was. */
async function forward(url: string, secret: string, event: Event): Promise<void> {
  const sender = createWebhookSender({ loopback: true });
  const body = JSON.stringify(event);
  const program = createComplaint();
  const what = `#${event.number} ${event.type}  ${String(event.data.payment_id ?? "")}`;
  for (;;) {
    const timestamp = Math.floor(Date.now() / 1000);
    const headers = {
      "content-type": "application/json",
      "user-agent": "Florin-Webhooks/1",
      ...signatureHeaders(event.id, timestamp, body, [secret]),
    };
    const answer = await sender.send({ url, headers, body }, stopping.signal);
    stopping.signal.throwIfAborted();
    if (answer.status !== null) {
      say(`${clock()}  ${what}  -> ${answer.status} (${answer.durationMs} ms)`);
      return;
    }
    program.away(`${clock()}  ${what}  -> ${plain(answer.error ?? "no answer")}; trying again`);
    await pause(TRY_EVERY_MS, undefined, { signal: stopping.signal });
  }
}

async function listen(sandbox: Sandbox, merchant: Merchant, wanted: ListenArguments) {
  const secret = secretOf(merchant);
  let after = wanted.after ?? (await newest(sandbox, merchant));
  say(`Events of ${merchant.id} after number ${after} go to ${wanted.url}`);
  say(`Signing secret: ${secret}`);
  for (;;) {
    const page = await ask(sandbox, merchant, after);
    for (const event of page.data) {
      await forward(wanted.url, secret, event);
      after = event.number;
    }
    if (!page.hasMore) await pause(ASK_EVERY_MS, undefined, { signal: stopping.signal });
  }
}

async function main(args: string[]): Promise<number> {
  const read = readListenArguments(args);
  if (read.kind !== "arguments") {
    say(read.text);
    return read.kind === "help" ? 0 : 1;
  }
  const file = readSandbox();
  if (file.kind !== "found") {
    say(file.message);
    return 1;
  }
  const { sandbox } = file;
  const id = read.arguments.merchant ?? sandbox.merchant.id;
  const merchant = [sandbox.merchant, ...sandbox.merchants].find((one) => one.id === id);
  if (merchant === undefined) {
    say(`The sandbox has no merchant ${plain(id)}.`);
    return 1;
  }
  const stop = () => stopping.abort();
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
  try {
    await listen(sandbox, merchant, read.arguments);
  } catch (error) {
    if (stopping.signal.aborted) return 0;
    process.stderr.write(`It went wrong: ${plain(String(error))}\n`);
    return 1;
  }
  return 0;
}

endWithReader();
process.exitCode = await main(process.argv.slice(2));
