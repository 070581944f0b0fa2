import { decodeFunctionData, erc20Abi, hexToString, isHex } from "viem";
import type {
  Amount,
  PaymentDetails,
  PaymentOption,
  WalletRpc,
} from "#server/client/wallet/shapes.ts";
import { formatMinor } from "#server/domain/money/amount.ts";
import { chainOf } from "./pay-choice.ts";
import { readTypedData } from "./pay-executors.ts";
import { plain } from "./plain.ts";
import type { Sandbox } from "./sandbox-file.ts";

/** `12.50 USDC` */
export const amountInWords = ({ value, display }: Amount): string =>
  plain(`${formatMinor(BigInt(value), display.decimals)} ${display.assetSymbol}`);

const UNITS: [number, string][] = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
];

/** Two units at most: `14 min 59 s`. */
export function durationInWords(seconds: number): string {
  const parts: string[] = [];
  let rest = Math.max(0, Math.floor(seconds));
  for (const [size, unit] of UNITS) {
    if (rest >= size) parts.push(`${Math.floor(rest / size)} ${unit}`);
    rest %= size;
  }
  return parts.length === 0 ? "0 s" : parts.slice(0, 2).join(" ");
}

/** The first line: who asks for how much, and for how long. */
export function paymentInWords(id: string, payment: PaymentDetails, nowMs: number): string {
  const { merchant, amount, status, expiresAt } = payment;
  const left =
    status === "requires_action"
      ? `expires in ${durationInWords(expiresAt - nowMs / 1000)}`
      : status;
  return `${plain(merchant?.name ?? "A merchant")} asks for ${amountInWords(amount)} (${id}, ${left})`;
}

/** Rows under their heads, each column as wide as its widest cell. */
export function table(heads: string[], rows: string[][]): string {
  const lines = [heads, ...rows];
  const widths = heads.map((_, column) =>
    Math.max(...lines.map((cells) => (cells[column] ?? "").length)),
  );
  return lines
    .map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "))
    .map((line) => `  ${line.trimEnd()}`)
    .join("\n");
}

const STEP_WORDS: Record<string, string> = {
  eth_signTypedData_v4: "sign",
  eth_sendTransaction: "send a transaction",
  personal_sign: "sign a message",
  solana_signTransaction: "sign a transaction",
};

function stepsInWords({ actions }: PaymentOption): string {
  const words = actions.map((action) =>
    action.type === "walletRpc" ? (STEP_WORDS[action.method] ?? plain(action.method)) : "prepare",
  );
  return words.length === 0 ? "prepare" : words.join(", then ");
}

/** The options as a table, numbered as `--option` counts. */
export function optionTable(options: PaymentOption[], nowMs: number): string {
  const rows = options.map((option, index) => [
    String(index + 1),
    amountInWords(option.amount),
    plain(option.amount.display.networkName ?? chainOf(option)),
    plain(option.account),
    option.expiresAt === null ? "-" : durationInWords(option.expiresAt - nowMs / 1000),
    `${stepsInWords(option)}${option.collectData === null ? "" : " (asks for data)"}`,
  ]);
  return table(["#", "you pay", "network", "account", "price holds", "steps"], rows);
}

/** An amount of a token by contract; raw where the sandbox file does not know it. */
function tokenAmount(sandbox: Sandbox, chainId: string, contract: string, minor: bigint): string {
  const token = sandbox.chains
    .find(({ caip2 }) => caip2 === chainId)
    ?.tokens.find(({ address }) => address?.toLowerCase() === contract.toLowerCase());
  if (token === undefined) return `${minor} units of ${contract}`;
  return `${formatMinor(minor, token.decimals)} ${token.symbol}`;
}

const until = (seconds: unknown): string =>
  `valid until ${new Date(Number(seconds) * 1000).toISOString().replace("T", " ").slice(0, 19)} UTC`;

function typedDataInWords(sandbox: Sandbox, { chainId, params }: WalletRpc): string {
  const { domain, primaryType, message } = readTypedData(params[1]);
  if (primaryType === "TransferWithAuthorization" || primaryType === "ReceiveWithAuthorization") {
    const contract = String(domain.verifyingContract);
    const amount = tokenAmount(sandbox, chainId, contract, BigInt(String(message.value)));
    return `Sign a transfer of ${amount} to ${message.to}, ${until(message.validBefore)} (no gas)`;
  }
  const permitted = message.permitted;
  if (primaryType === "PermitTransferFrom" && typeof permitted === "object" && permitted !== null) {
    const { token, amount } = permitted as Record<string, unknown>;
    const words = tokenAmount(sandbox, chainId, String(token), BigInt(String(amount)));
    return `Sign a Permit2 transfer of ${words} by ${message.spender}, ${until(message.deadline)} (no gas)`;
  }
  return `Sign ${primaryType} for ${domain.name}`;
}

function transactionInWords(sandbox: Sandbox, { chainId, params }: WalletRpc): string {
  const { to, data, value } = (params[0] ?? {}) as Record<string, unknown>;
  if (typeof data === "string" && isHex(data) && data.startsWith("0x095ea7b3")) {
    const { args } = decodeFunctionData({ abi: erc20Abi, data });
    const minor = BigInt(args?.[1] ?? 0n);
    if (minor === 0n)
      return `Send a transaction that takes back what ${args?.[0]} was allowed to take (you pay gas)`;
    const amount = tokenAmount(sandbox, chainId, String(to), minor);
    return `Send a transaction that allows ${args?.[0]} to take ${amount} (you pay gas)`;
  }
  const coin = sandbox.chains
    .find(({ caip2 }) => caip2 === chainId)
    ?.tokens.find(({ address }) => address == null);
  const amount = formatMinor(BigInt(typeof value === "string" ? value : 0), coin?.decimals ?? 18);
  return `Send a transaction of ${amount} ${coin?.symbol ?? "coins"} to ${to} (you pay gas)`;
}

function messageInWords({ params }: WalletRpc): string {
  const [text] = params;
  const message = typeof text === "string" && isHex(text) ? hexToString(text) : String(text);
  return `Sign the message ${JSON.stringify(message.split("\n").map(plain).join(" / "))}`;
}

/** One action as a person would say it; what cannot be read is named by its method. */
export function actionInWords(sandbox: Sandbox, action: WalletRpc): string {
  try {
    if (action.method === "eth_signTypedData_v4") return plain(typedDataInWords(sandbox, action));
    if (action.method === "eth_sendTransaction") return plain(transactionInWords(sandbox, action));
    if (action.method === "personal_sign") return messageInWords(action);
    return plain(`Execute ${action.method}`);
  } catch (error) {
    return plain(`Execute ${action.method} (its parameters cannot be shown: ${String(error)})`);
  }
}
