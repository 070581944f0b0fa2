import { createHash } from "node:crypto";
import { TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import { TOKEN_2022, tokenAccountOf } from "#server/chains/solana/assets.ts";
import { referenceOf, toBase58, verifies } from "#server/chains/solana/keys.ts";
import { readTransaction } from "#server/chains/solana/message.ts";
import { paymentNonce, type TransferTerms } from "#server/domain/option/authorization.ts";
import type { Context } from "./context.ts";
import { type Finding, judge } from "./finding.ts";
import type { SolanaNode } from "./solana-node.ts";

/** Why other checks that look at chains leave a cluster out. */
export const SOLANA_LEFT_OUT =
  "its balances are compared in I14, its stored transactions in I22; the rest reads blocks";

/** What an account must keep to stay on the chain, in lamports: it is no money of the books. */
const RENT_MINIMUM = 890_880n;

async function ask<T>({ urls }: SolanaNode, method: string, params: unknown[]): Promise<T> {
  let last: unknown = new Error("no node is configured");
  for (const url of urls) {
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
        signal: AbortSignal.timeout(10_000),
      });
      const body = (await response.json()) as { result?: T; error?: { message: string } };
      if (body.error !== undefined) throw new Error(`${method}: ${body.error.message}`);
      return body.result as T;
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

/** Throws a sentence when the node is away or on another cluster. */
export async function findCluster(chain: string, node: SolanaNode): Promise<void> {
  const genesis = await ask<string>(node, "getGenesisHash", []);
  if (`solana:${genesis.slice(0, 32)}` !== chain)
    throw new Error(`its node is on solana:${genesis.slice(0, 32)}`);
}

async function held(node: SolanaNode, owner: string, mint: string | null): Promise<bigint> {
  const commitment = { commitment: "confirmed" };
  if (mint === null)
    return BigInt((await ask<{ value: number }>(node, "getBalance", [owner, commitment])).value);
  let sum = 0n;
  for (const program of [TOKEN_PROGRAM_ADDRESS, TOKEN_2022]) {
    const account = await tokenAccountOf(owner, mint, program);
    const { value } = await ask<{ value: { data: [string, string] } | null }>(
      node,
      "getAccountInfo",
      [account, { encoding: "base64", ...commitment }],
    );
    if (value !== null) sum += Buffer.from(value.data[0], "base64").readBigUInt64LE(64);
  }
  return sum;
}

/** What the books say is held, and what is on its way out and may have left already. */
const BOOKS = `select coalesce((select sum(balance) from ledger_account where kind = 'intermediary' and asset = $1), 0)::text as books,
  (coalesce((select sum(s.amount) from settlement s where s.asset = $1 and s.state = 'sent'), 0)
   + coalesce((select sum(r.amount) from refund r where r.asset = $1 and r.state = 'pending' and r.intent_id is not null), 0))::text as leaving`;

const INTERMEDIARIES = `select distinct o.recipient as account from payment_option o
  join payment p on p.id = o.payment_id and p.flow = 'intermediary' where o.chain = $1`;

/** I14 on Solana: the intermediary holds at least what the books say, but for what is on its way out. */
export async function solanaBalances(context: Context): Promise<Finding> {
  const problems: string[] = [];
  let looked = 0;
  for (const [chain, node] of context.solana) {
    const accounts = await context.query<{ account: string }>(INTERMEDIARIES, [chain]);
    for (const { asset, mint } of node.assets) {
      const [row] = await context.query<{ books: string; leaving: string }>(BOOKS, [asset]);
      const books = BigInt(row?.books ?? 0);
      let onChain = 0n;
      for (const { account } of accounts) onChain += await held(node, account, mint);
      if (mint === null && books > 0n) onChain -= RENT_MINIMUM * BigInt(accounts.length);
      looked++;
      if (onChain + BigInt(row?.leaving ?? 0) < books)
        problems.push(`${asset}: ${onChain} is on chain, the books say ${books}`);
    }
  }
  return judge(problems, looked === 0 ? "" : `${looked} on Solana, as lower bounds`);
}

/** A stored Solana transaction: what is wrong with it, or what it does apart from its lifetime, in one line. */
export function readSolanaTx(
  name: string,
  { hash, raw }: { hash: string; raw: Buffer },
): { problem: string } | { call: string } {
  const parts = readTransaction(new Uint8Array(raw));
  if (parts === null) return { problem: `${name}: the stored bytes are no transaction of ours` };
  for (const [account, signature] of parts.signatures)
    if (signature === null || !verifies(account, parts.message, signature))
      return { problem: `${name}: the signature of ${account} does not hold` };
  const first = parts.signatures.get(parts.feePayer);
  if (first == null || toBase58(first) !== hash)
    return { problem: `${name}: the stored bytes have another id` };
  const call = parts.instructions.map(({ program, accounts, data }) =>
    [program, ...accounts, Buffer.from(data).toString("hex")].join(" "),
  );
  // A recipient's token account may exist by the time of a second signing: making it is no part of what is paid.
  return { call: call.filter((one) => !one.startsWith("ATokenG")).join("; ") };
}

type OptionRow = {
  payment_id: string;
  chain: string;
  asset: string;
  payer: string;
  recipient: string;
  mechanism: string;
  amount_minor: string;
  auth_nonce: string;
  auth_digest: string;
  deadline: string;
  terms: TransferTerms;
};

/** An option whose wallet signs a transaction: its terms are those of the row, and its reference is the payment's. */
export function transferProblem(row: OptionRow, name: string): string | null {
  const { mechanism, chain, token, payer, recipient, amount, nonce, deadline } = row.terms;
  if (row.auth_nonce !== paymentNonce(row.payment_id))
    return `${name} carries the reference ${referenceOf(row.auth_nonce)}, which is not its payment's`;
  const said = [mechanism, chain, token, payer, recipient, amount, nonce, deadline].join(" ");
  const stored = [
    row.mechanism,
    row.chain,
    row.asset.slice(row.asset.lastIndexOf(":") + 1),
    row.payer,
    row.recipient,
    row.amount_minor,
    row.auth_nonce,
    row.deadline,
  ].join(" ");
  if (said !== stored) return `${name}: asked for is ${said}, stored is ${stored}`;
  const terms = { mechanism, chain, token, payer, recipient, amount, nonce, deadline };
  const digest = `0x${createHash("sha256").update(JSON.stringify(terms)).digest("hex")}`;
  return digest === row.auth_digest
    ? null
    : `${name}: the stored digest is ${row.auth_digest}, its terms have ${digest}`;
}
