import { parseArgs } from "node:util";
import type { Sandbox } from "./sandbox-file.ts";

/** What `npm run pay` was asked to do. */
export type PayArguments = {
  /** Payment link or id; null only with `list`, which then lists the accounts. */
  link: string | null;
  account: string | null;
  option: string | null;
  json: boolean;
  list: boolean;
  /** Only follow the payment to its end. */
  watch: boolean;
  /** Answer a form for personal data with made-up data instead of ending there. */
  fillForm: boolean;
};

/** The arguments, or the text to print instead of paying. */
export type ReadArguments =
  | { kind: "arguments"; arguments: PayArguments }
  | { kind: "help"; text: string; json: boolean }
  | { kind: "wrong"; text: string; json: boolean };

const USAGE = `Usage: npm run pay -- <payment link or id> [options]

  --account <which>  pay from these accounts only: a CAIP-10 account, an address, or a number of --list
  --option <which>   the option to take: its number, its id, or a symbol, as in USDC or USDC@31338
  --fill-form        where personal data is asked for, send made-up data
  --list             show the options (without a link: the accounts) and pay nothing
  --watch            pay nothing, follow the payment to its end
  --json             print one JSON document and nothing else

Exit code: 0 paid (or listed), 2 refused, expired or no option, 1 anything else.
npm prints two lines of its own before the document of --json; npm run -s pay prints none.
`;

/** Reads the command line; a mistake gives its text with the usage. */
export function readArguments(args: string[]): ReadArguments {
  const json = args.includes("--json");
  const wrong = (problem: string): ReadArguments => ({
    kind: "wrong",
    text: `${problem}\n\n${USAGE}`,
    json,
  });
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        account: { type: "string" },
        option: { type: "string" },
        json: { type: "boolean", default: false },
        list: { type: "boolean", default: false },
        watch: { type: "boolean", default: false },
        "fill-form": { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) return { kind: "help", text: USAGE, json };
    const [link = null, ...more] = positionals;
    if (more.length > 0) return wrong("One payment at a time, please.");
    if (link === null && !values.list) return wrong("Which payment? Give its link or id.");
    if (values.list && values.watch) return wrong("Either --list or --watch, please.");
    const { account = null, option = null, list, watch, "fill-form": fillForm } = values;
    const read = { link, account, option, json, list, watch, fillForm };
    return { kind: "arguments", arguments: read };
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error));
  }
}

/** One account of the sandbox, with its number in the sandbox file. */
export type NumberedAccount = Sandbox["accounts"][number] & { number: number };

/** The sandbox's accounts in the order of the file, counted from 0. */
export const numberAccounts = ({ accounts }: Sandbox): NumberedAccount[] =>
  accounts.map((account, number) => ({ ...account, number }));

/** The accounts meant by `--account`; an address means that address on every chain. None: no such account. */
export function pickAccounts(sandbox: Sandbox, wanted: string | null): NumberedAccount[] {
  const all = numberAccounts(sandbox);
  if (wanted === null) return all;
  if (/^[0-9]+$/.test(wanted)) return all.filter(({ number }) => number === Number(wanted));
  const lower = wanted.toLowerCase();
  return all.filter(({ caip10 }) => {
    const account = caip10.toLowerCase();
    return account === lower || account.endsWith(`:${lower}`);
  });
}
