import { createHash } from "node:crypto";
import { referenceOf, toBase58, verifies } from "#server/chains/solana/keys.ts";
import { readTransaction } from "#server/chains/solana/message.ts";
import { paymentNonce, type TransferTerms } from "#server/domain/option/authorization.ts";
import type { Context, Seen } from "./context.ts";
import type { SolanaView } from "./solana-view.ts";
import { readSums } from "./sums.ts";

/** What an account must keep to stay on the chain, in lamports: it is no money of the books. */
const RENT_MINIMUM = 890_880n;

/**
 * I14 on Solana: the intermediary holds at least what the books say, but for what is on its way out. Its balances were read before
 * the database, each in one slot: what is booked from above that slot is not compared.
 */
export async function solanaBalances(context: Context, view: SolanaView): Promise<Seen> {
  const { holdings, intermediaries } = view;
  const problems: string[] = [];
  for (const { asset, mint, amount, at } of holdings) {
    const sums = await readSums(context, asset, at, intermediaries);
    const books = sums.ledger - sums.inAbove + sums.outAbove;
    const rent = mint === null && books > 0n ? RENT_MINIMUM * BigInt(intermediaries.length) : 0n;
    if (amount - rent + sums.leaving < books)
      problems.push(`${asset}: ${amount - rent} is on chain in slot ${at}, the books say ${books}`);
  }
  const notes = holdings.length === 0 ? [] : ["as lower bounds"];
  return { looked: holdings.length, problems, notes };
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
