import { parseArgs } from "node:util";
import { z } from "zod";
import { createDatabase } from "#server/db/client.ts";
import { Misuse, withUsage } from "./command.ts";
import { settingsDatabaseUrl } from "./database-url.ts";

/** Words of `merchant terms`. */
export const TERMS_USAGE = `Changes the terms of a merchant's next payments; what is left out stays as it is, and payments that were made keep theirs.
Without a change it shows them.

  npm run merchant -- terms --merchant mer_… [--fee-bps 40] [--fee-fixed-cents 0] [--schedule instant|batched]
      [--collect never|always | --collect-from-cents 100000] [--prove-ownership | --no-prove-ownership]

The fee is taken from what arrives, when it is settled: basis points, and a fixed part in US cents. --collect says when buyers
must give personal data: never, always, or from an amount in US cents on. --prove-ownership asks a buyer's account for a
signature before the payment.
`;

const wholeNumber = (max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, "must be a whole number")
    .transform(Number)
    .pipe(z.number().max(max));

/** Basis points of a fee, and its fixed part in US cents, as they are written in a command. */
export const feeBps = wholeNumber(10_000);
export const feeFixedCents = wholeNumber(1_000_000);
export const schedule = z.enum(["instant", "batched"]);

const input = z.object({
  merchant: z.string("--merchant is needed").regex(/^[A-Za-z0-9_-]{1,100}$/),
  "fee-bps": feeBps.optional(),
  "fee-fixed-cents": feeFixedCents.optional(),
  schedule: schedule.optional(),
  collect: z.enum(["never", "always"]).optional(),
  "collect-from-cents": wholeNumber(999_999_999).optional(),
  "prove-ownership": z.boolean().optional(),
  "no-prove-ownership": z.boolean().optional(),
});

/** Columns of a merchant that are its terms. */
export type TermsChange = {
  fee_bps?: number;
  fee_fixed_cents?: number;
  settlement_schedule?: "instant" | "batched";
  collect_when?: "never" | "always" | "above";
  collect_above_cents?: number;
  prove_ownership?: boolean;
};

/** Reads the words of the command; throws with what is wrong with them. */
export function readTerms(words: string[]): { merchant: string; change: TermsChange } {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const { values } = parseArgs({
    args: words,
    options: {
      merchant: text,
      "fee-bps": text,
      "fee-fixed-cents": text,
      schedule: text,
      collect: text,
      "collect-from-cents": text,
      "prove-ownership": flag,
      "no-prove-ownership": flag,
    },
  });
  const parsed = input.safeParse(values);
  if (!parsed.success)
    throw new Misuse(
      parsed.error.issues.map((i) => `--${i.path.join(".")}: ${i.message}`).join("\n"),
    );
  const { merchant, collect, "collect-from-cents": from, ...said } = parsed.data;
  if (collect !== undefined && from !== undefined)
    throw new Misuse("--collect and --collect-from-cents exclude each other");
  if (said["prove-ownership"] && said["no-prove-ownership"])
    throw new Misuse("--prove-ownership and --no-prove-ownership exclude each other");
  const bps = said["fee-bps"];
  const fixed = said["fee-fixed-cents"];
  return {
    merchant,
    change: {
      ...(bps !== undefined && { fee_bps: bps }),
      ...(fixed !== undefined && { fee_fixed_cents: fixed }),
      ...(said.schedule !== undefined && { settlement_schedule: said.schedule }),
      ...(collect !== undefined && { collect_when: collect }),
      ...(from !== undefined && { collect_when: "above" as const, collect_above_cents: from }),
      ...(said["prove-ownership"] && { prove_ownership: true }),
      ...(said["no-prove-ownership"] && { prove_ownership: false }),
    },
  };
}

type TermsRow = Required<TermsChange> & { name: string; flow: string };

/** Changes the columns that are named, and returns the merchant; null: there is none. */
async function change(merchant: string, terms: TermsChange): Promise<TermsRow | null> {
  const db = createDatabase(settingsDatabaseUrl(), { max: 1 });
  const columns = Object.keys(terms).map((name, at) => `${name} = $${at + 2}, `);
  try {
    const [row] = await db.query<TermsRow>(
      `update merchant set ${columns.join("")} updated_at = now() where id = $1 returning *`,
      [merchant, ...Object.values(terms)],
    );
    return row ?? null;
  } finally {
    await db.close();
  }
}

const report = (row: TermsRow): string =>
  JSON.stringify(
    {
      name: row.name,
      flow: row.flow,
      feeBps: row.fee_bps,
      feeFixedCents: row.fee_fixed_cents,
      schedule: row.settlement_schedule,
      collect: row.collect_when === "above" ? `from ${row.collect_above_cents}` : row.collect_when,
      proveOwnership: row.prove_ownership,
    },
    null,
    2,
  );

/** `merchant terms …`: returns the exit code; throws what is wrong with the command, with its usage. */
export async function terms(words: string[]): Promise<number> {
  if (words.length === 0) throw new Misuse(TERMS_USAGE);
  try {
    const read = readTerms(words);
    const row = await change(read.merchant, read.change);
    if (row === null) throw new Misuse(`There is no merchant ${read.merchant}.`);
    process.stdout.write(`${report(row)}\n`);
    return 0;
  } catch (error) {
    throw withUsage(error, TERMS_USAGE);
  }
}
