import { AppError } from "#server/platform/app-error.ts";
import type { ChainPort } from "#server/ports/chain.ts";
import type { PaymentOption } from "#server/ports/store.ts";

/** The message of an option's proof of ownership, which is its first action; null: none is asked for. */
function messageOf({ actions }: PaymentOption): string | null {
  const [first] = actions;
  if (first?.data.method !== "personal_sign") return null;
  return Buffer.from(String(first.data.params[0]).slice(2), "hex").toString("utf8");
}

/** The proof among aligned outputs, once it was verified; null: the option asks for none. A wrong one is 422 and ends nothing. */
export async function requireProof(
  chain: ChainPort,
  option: PaymentOption,
  outputs: string[],
  hasCode: boolean,
): Promise<string | null> {
  const message = messageOf(option);
  const [proof] = outputs;
  if (message === null || proof === undefined) return null;
  if (await chain.provesAccount(option.payer, message, proof, hasCode)) return proof;
  throw new AppError(
    "params_validation",
    "Validation error: the proof of ownership does not verify",
    {
      status: 422,
      issues: [{ path: "results.0", field: "results", message: "is not this account's signature" }],
    },
  );
}
