import { parseArgs } from "node:util";

/** What `npm run listen` was asked to do. */
export type ListenArguments = {
  /** Where the local program takes webhooks. */
  url: string;
  /** Null: the sandbox's first merchant. */
  merchant: string | null;
  /** Send everything after this event; null: only what happens from now on. */
  after: number | null;
};

const USAGE = `Usage: npm run listen -- <URL of a program on this machine> [options]

Sends a sandbox merchant's events to a local program as they happen, signed as webhooks are.

  --merchant <id>    the merchant; by default the sandbox's first
  --after <number>   begin after this event, 0 for all there are; by default only new ones are sent

An answer that is not 2xx is shown and not asked for again; while nobody answers, the event is tried every second.
`;

/** Names of this machine; anything else would get a merchant's events over the network, with a secret that anybody here can read. */
const isThisMachine = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);

const wrong = (problem: string) => ({ kind: "wrong" as const, text: `${problem}\n\n${USAGE}` });

/** Reads the command line; a mistake gives its text with the usage. */
export function readListenArguments(
  args: string[],
):
  | { kind: "arguments"; arguments: ListenArguments }
  | { kind: "help"; text: string }
  | { kind: "wrong"; text: string } {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        merchant: { type: "string" },
        after: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) return { kind: "help", text: USAGE };
    const [url, ...more] = positionals;
    if (url === undefined) return wrong("Where to? Give the URL of your program.");
    if (more.length > 0) return wrong("One URL at a time, please.");
    if (!/^https?:\/\//.test(url) || !URL.canParse(url)) return wrong(`${url} is no URL.`);
    if (!isThisMachine(new URL(url).hostname))
      return wrong(`${url} is another machine: events are sent to programs on this one alone.`);
    const { merchant = null, after } = values;
    if (after !== undefined && !/^[0-9]{1,15}$/.test(after))
      return wrong("--after takes the number of an event.");
    return {
      kind: "arguments",
      arguments: { url, merchant, after: after === undefined ? null : Number(after) },
    };
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error));
  }
}
