import { WalletError, type WalletFailure } from "../kit.ts";

/** What wallets say by number; EIP-1193, EIP-1474 and, for 5000 and 4902, what they do in fact. */
const KINDS: Record<number, WalletFailure> = {
  4001: "refused",
  5000: "refused",
  4100: "refused",
  4200: "refused",
  4900: "gone",
  4901: "wrong_chain",
  4902: "unsupported_chain",
  [-32002]: "busy",
};

/** The number a wallet gave with its error, wherever it is wrapped; null: none. */
export function codeOf(error: unknown): number | null {
  let at: unknown = error;
  for (let depth = 0; depth < 5 && typeof at === "object" && at !== null; depth += 1) {
    const { code, data, cause } = at as {
      code?: unknown;
      data?: { originalError?: { code?: unknown } };
      cause?: unknown;
    };
    const inner = data?.originalError?.code;
    if (typeof inner === "number") return inner;
    if (typeof code === "number") return code;
    at = cause;
  }
  return null;
}

/** Wallets that refuse without the number say it in words. */
const REFUSAL = /\b(user|request)\b.{0,20}\b(rejected|denied|declined|cancell?ed)\b/i;

/**
 * The error as the checkout knows it. `mayHaveLeft`: the call broadcasts, so anything but a clear refusal is `unknown`; otherwise what
 * nobody can name is `refused`, as nothing left.
 */
export function walletErrorOf(error: unknown, { mayHaveLeft }: { mayHaveLeft: boolean }) {
  if (error instanceof WalletError) return error;
  const code = codeOf(error);
  const message =
    error instanceof Error || (typeof error === "object" && error !== null && "message" in error)
      ? String(error.message)
      : String(error);
  const named = code === null ? undefined : KINDS[code];
  const refused = named ?? (REFUSAL.test(message) ? "refused" : undefined);
  // A wallet that went away in the middle of sending may have sent.
  const certain = mayHaveLeft && refused === "gone" ? undefined : refused;
  const kind = certain ?? (mayHaveLeft ? "unknown" : "refused");
  return new WalletError(kind, message, { cause: error });
}
