import { outcomeOfRefusal } from "#server/client/wallet/await-outcome.ts";
import { openPayment, type PaymentClient } from "#server/client/wallet/client.ts";
import { GatewayError } from "#server/client/wallet/gateway-error.ts";
import type { Outcome } from "#server/client/wallet/outcome.ts";
import { type PaySettings, type Progress, pay, watchPayment } from "#server/client/wallet/pay.ts";
import {
  type NumberedAccount,
  numberAccounts,
  type PayArguments,
  pickAccounts,
  readArguments,
} from "./pay-arguments.ts";
import { linkProblem, pickOption, readSandboxLink } from "./pay-choice.ts";
import { createSandboxExecutors } from "./pay-executors.ts";
import { fillForm } from "./pay-form.ts";
import {
  adviceInWords,
  emptyStory,
  exitCodeOf,
  outcomeInWords,
  progressInWords,
  type Story,
  tell,
} from "./pay-report.ts";
import { durationInWords, optionTable, paymentInWords, table } from "./pay-words.ts";
import { plain } from "./plain.ts";
import { endWithReader } from "./reader.ts";
import { readSandbox, type Sandbox } from "./sandbox-file.ts";

/** How the command ends: what `--json` prints besides the story, the lines for people, the exit code. */
type Ending = { document: Record<string, unknown>; lines: string[]; exitCode: number };

/** One command that knows its sandbox. */
type Command = {
  sandbox: Sandbox;
  wanted: PayArguments;
  story: Story;
  say: (lines: string[]) => void;
};

const ended = (outcome: string, message: string, exitCode: number): Ending => ({
  document: { outcome, message },
  lines: [message],
  exitCode,
});

const NOT_RUNNING = (sandbox: Sandbox) =>
  `No server answers at ${sandbox.baseUrl}. Start the sandbox with: npm start`;

function listAccounts(sandbox: Sandbox): Ending {
  const accounts = numberAccounts(sandbox).map(({ number, caip10, holds }) => ({
    number,
    caip10,
    holds,
  }));
  const rows = accounts.map(({ number, caip10, holds }) => [String(number), caip10, holds]);
  return {
    document: { outcome: "listed", accounts },
    lines: [table(["#", "account", "holds"], rows)],
    exitCode: 0,
  };
}

async function listOptions(
  { story }: Command,
  client: PaymentClient,
  accounts: NumberedAccount[],
): Promise<Ending> {
  const asked = accounts.map(({ caip10 }) => caip10);
  const { options, info } = await client.getOptions(asked, { includePaymentInfo: true });
  const payment = info ?? (await client.getPayment());
  tell(story, { kind: "options", payment, options });
  const nowMs = client.serverNow();
  const head = paymentInWords(client.paymentId, payment, nowMs);
  if (options.length > 0)
    return {
      document: { outcome: "listed" },
      lines: [head, "", optionTable(options, nowMs)],
      exitCode: 0,
    };
  const { document, lines, exitCode } =
    payment.status === "requires_action"
      ? ended("no_option", "There are no options to pay it.", 2)
      : ended("listed", `It is ${payment.status}: there is nothing to pay any more.`, 0);
  return { document, lines: [head, ...lines], exitCode };
}

/** What the outcome alone does not say: which switch of this command helps. */
function hintFor(outcome: Outcome, { sandbox, wanted, story }: Command): string | null {
  if (outcome.kind === "unavailable") return outcome.status === null ? NOT_RUNNING(sandbox) : null;
  if (outcome.kind === "unknown" || outcome.kind === "processing")
    return `Watch it with: npm run pay -- ${story.paymentId} --watch`;
  if (outcome.kind === "no_option" && outcome.reason === "none_chosen")
    return `No option matches "${wanted.option}"; see the list above, or --list.`;
  if (outcome.kind === "no_option" && outcome.reason === "none_offered")
    return "See which accounts hold what: npm run pay -- --list";
  if (outcome.kind === "refused" && outcome.code === "sanctioned_user" && wanted.account === null)
    return "One of the accounts is screened out; choose another one with --account.";
  if (outcome.kind === "data_needed")
    return `Open the form, fill it in, then run the same command again${story.option === null ? "" : ` with --account ${plain(story.option.account)}`}; or add --fill-form to send made-up data.`;
  return null;
}

/** Stands in for a user in front of the form. */
const formFiller =
  (say: Command["say"]): NonNullable<PaySettings["collectData"]> =>
  async ({ url, schema }) => {
    say([`Form: ${plain(url)}`, "  sending made-up data instead"]);
    return { kind: "fields", fields: fillForm(schema) };
  };

/** Writes every step into the story and says it; of a trouble that lasts only the first time. */
function teller({ sandbox, story, say }: Command, client: PaymentClient) {
  let inTrouble = false;
  return (progress: Progress) => {
    if (progress.kind === "trouble" && inTrouble) return;
    inTrouble = progress.kind === "trouble";
    const before = progress.kind === "standing" ? story.status : null;
    tell(story, progress);
    say(progressInWords(sandbox, story, progress, before, client.serverNow()));
  };
}

async function payNow(
  command: Command,
  client: PaymentClient,
  accounts: NumberedAccount[],
): Promise<Ending> {
  const { sandbox, wanted, story, say } = command;
  const outcome = await pay({
    client,
    accounts: accounts.map(({ caip10 }) => caip10),
    executors: createSandboxExecutors(sandbox),
    chooseOption: (executable) => {
      const option = pickOption(story.options, wanted.option);
      if (wanted.option === null) return executable[0] ?? null;
      return executable.find(({ id }) => id === option?.id) ?? null;
    },
    ...(wanted.fillForm ? { collectData: formFiller(say) } : {}),
    onProgress: teller(command, client),
    onExpiryWarning: (secondsLeft) => say([`  ${durationInWords(secondsLeft)} left to pay`]),
  });
  return endOf(outcome, command);
}

/** Follows a payment to its end, and pays nothing. */
async function watchOnly(command: Command, client: PaymentClient): Promise<Ending> {
  const outcome = await watchPayment({ client, onProgress: teller(command, client) });
  if (outcome.kind === "processing" && outcome.status === "requires_action")
    return ended("open", "The payment is still open, and nothing that pays it was seen yet.", 1);
  return endOf(outcome, command);
}

function endOf(outcome: Outcome, command: Command): Ending {
  const hint = hintFor(outcome, command);
  const message = adviceInWords(outcome);
  const { kind, ...facts } = outcome;
  return {
    document: {
      outcome: kind,
      message: hint === null ? message : `${message} ${hint}`,
      txId: outcome.kind === "succeeded" ? outcome.txId : null,
      facts,
    },
    lines: [...outcomeInWords(outcome), ...(hint === null ? [] : [hint])],
    exitCode: exitCodeOf(outcome),
  };
}

/** A listing that was refused, or a server that is away. */
function endOfTrouble(error: GatewayError, command: Command): Ending {
  if (error.kind === "unavailable" && error.status === null)
    return ended("unavailable", NOT_RUNNING(command.sandbox), 1);
  if (error.kind === "refused") return endOf(outcomeOfRefusal(error), command);
  const message = `The payment service answered: ${plain(error.message)} (${error.code ?? error.status})`;
  return ended(error.kind, message, 1);
}

async function run(command: Command): Promise<Ending> {
  const { sandbox, wanted, story } = command;
  if (wanted.link === null) return listAccounts(sandbox);
  const link = readSandboxLink(sandbox, wanted.link);
  const problem = linkProblem(sandbox, link);
  if (link.kind !== "payment") return ended("refused", problem ?? "", 2);
  const accounts = pickAccounts(sandbox, wanted.account);
  if (accounts.length === 0)
    return ended("wrong", `No account "${wanted.account}" here; see: npm run pay -- --list`, 1);
  story.paymentId = link.paymentId;
  const { baseUrl, gateway } = sandbox;
  const client = openPayment({ baseUrl, credentials: { apiKey: gateway.apiKey } }, link.paymentId);
  try {
    if (wanted.list) return await listOptions(command, client, accounts);
    if (wanted.watch) return await watchOnly(command, client);
    return await payNow(command, client, accounts);
  } catch (error) {
    if (error instanceof GatewayError) return endOfTrouble(error, command);
    throw error;
  }
}

const write = (text: string) => process.stdout.write(`${text}\n`);

async function main(args: string[]): Promise<number> {
  const read = readArguments(args);
  const story = emptyStory();
  const finish = ({ document, lines, exitCode }: Ending, json: boolean): number => {
    if (json) write(JSON.stringify({ ...document, ...story }, null, 2));
    else write(lines.join("\n"));
    return exitCode;
  };
  if (read.kind === "help") {
    return finish(
      { document: { outcome: "help", message: read.text }, lines: [read.text], exitCode: 0 },
      read.json,
    );
  }
  if (read.kind === "wrong") return finish(ended("wrong", read.text, 1), read.json);
  const wanted = read.arguments;
  const file = readSandbox();
  if (file.kind !== "found") return finish(ended("no_sandbox", file.message, 1), wanted.json);
  const say = (lines: string[]) => {
    if (!wanted.json && lines.length > 0) write(lines.join("\n"));
  };
  try {
    return finish(await run({ sandbox: file.sandbox, wanted, story, say }), wanted.json);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return finish(ended("error", plain(`It went wrong: ${message}`), 1), wanted.json);
  }
}

endWithReader();
process.exitCode = await main(process.argv.slice(2));
