import { type PaymentLink, readPaymentLink } from "#server/client/wallet/payment-link.ts";
import type { PaymentOption } from "#server/client/wallet/shapes.ts";
import type { Sandbox } from "./sandbox-file.ts";

const LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"];

/** The hosts of this sandbox; one on loopback has all of loopback's names. */
function trustedHosts({ baseUrl, checkoutUrl }: Sandbox): string[] {
  const hosts = [checkoutUrl, baseUrl].flatMap((text) => {
    const { host, hostname, port } = new URL(text);
    if (!LOOPBACK_NAMES.includes(hostname)) return [host];
    return LOOPBACK_NAMES.map((name) => (port === "" ? name : `${name}:${port}`));
  });
  return [...new Set(hosts)];
}

/** Reads a link of this sandbox. */
export function readSandboxLink(sandbox: Sandbox, text: string): PaymentLink {
  const readings = trustedHosts(sandbox).map((payHost) => readPaymentLink(text, { payHost }));
  const trusted = readings.find(
    (reading) => reading.kind === "payment" || reading.reason !== "untrusted_host",
  );
  return trusted ?? { kind: "not_payment", reason: "untrusted_host" };
}

/** Why a text is no link of this sandbox, in a sentence. */
export function linkProblem(sandbox: Sandbox, reading: PaymentLink): string | null {
  if (reading.kind === "payment") return null;
  const { host } = new URL(sandbox.checkoutUrl);
  const sentences: Record<typeof reading.reason, string> = {
    untrusted_host: `The link is not on ${host}, the only host this wallet trusts. Nothing was sent.`,
    insecure: "The link is not https. Nothing was sent.",
    ambiguous: "The link names more than one payment. Nothing was sent.",
    no_payment_id: "The link names no payment (pay_ and up to 60 letters and digits).",
    pairing_without_payment: "This is a pairing URI without a payment.",
    malformed: "This is neither a payment link nor a payment id.",
  };
  return sentences[reading.reason];
}

/** The chain id of an option, as in `eip155:31337`. */
export const chainOf = ({ account }: PaymentOption): string =>
  account.slice(0, account.lastIndexOf(":"));

function hasSymbol(option: PaymentOption, wanted: string): boolean {
  const [symbol, chain, ...rest] = wanted.toLowerCase().split("@");
  if (rest.length > 0 || option.amount.display.assetSymbol.toLowerCase() !== symbol) return false;
  const own = chainOf(option).toLowerCase();
  return chain === undefined || own === chain || own.endsWith(`:${chain}`);
}

/**
 * The option meant by `--option`: its number in the list as shown (from 1), its id, or a symbol with
 * or without a chain. Of several with the symbol, the first. Null: none is meant.
 */
export function pickOption(options: PaymentOption[], wanted: string | null): PaymentOption | null {
  if (wanted === null) return options[0] ?? null;
  if (/^[0-9]{1,4}$/.test(wanted)) return options[Number(wanted) - 1] ?? null;
  const byId = options.find(({ id }) => id === wanted);
  return byId ?? options.find((option) => hasSymbol(option, wanted)) ?? null;
}
