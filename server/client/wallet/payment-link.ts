/** What a scanned or opened text means to a wallet. */
export type PaymentLink =
  | { kind: "payment"; paymentId: string; form: "path" | "query" | "pairing" | "bare" }
  | { kind: "not_payment"; reason: NotPaymentReason };

/**
 * Why a text is no payment link of the trusted host. `untrusted_host` (any other website) and
 * `pairing_without_payment` may still mean something to the wallet as a generic URL or a pairing URI.
 */
export type NotPaymentReason =
  | "untrusted_host"
  | "insecure"
  | "ambiguous"
  | "no_payment_id"
  | "pairing_without_payment"
  | "malformed";

/** The host wallets trust: `{pay_host}` as `host` or `host:port`, without a scheme. */
export type TrustedHost = { payHost: string };

const PAYMENT_ID = /^pay_[A-Za-z0-9]{1,60}$/;
/** Printable ASCII without space and backslash: whatever URL parsers disagree about stays outside. */
const PLAIN = /^[\x21-\x5b\x5d-\x7e]{1,4096}$/;
const DEFAULT_PORT: Record<string, string> = { "http:": "80", "https:": "443" };
const WEB_URL = /^(https?):\/\/([^/?#]*)/i;
const PAIRING = /^wc:/i;
const LOOPBACK = /^(localhost|[a-z0-9.-]+\.localhost|127(\.[0-9]{1,3}){3}|\[::1\])$/;
/** What may stand before the pay host: non-empty DNS labels, each with its dot. */
const LABELS = /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+$/;

const no = (reason: NotPaymentReason): PaymentLink => ({ kind: "not_payment", reason });

function urlOf(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/** Whether a page may be shown: https, or http of this machine. */
export function isSafePage(text: string): boolean {
  const url = urlOf(text);
  return url?.protocol === "https:" || (url?.protocol === "http:" && LOOPBACK.test(url.hostname));
}

/** Whether `text` is a payment id as such, without any link around it. */
export const isPaymentId = (text: string): boolean => PAYMENT_ID.test(text);

function readTrusted(payHost: string): URL {
  const url = new URL(`https://${payHost}`);
  const plain = PLAIN.test(payHost) && url.host === payHost.toLowerCase().replace(/:443$/, "");
  if (!plain) throw new TypeError(`payHost must be "host" or "host:port", not "${payHost}"`);
  return url;
}

/** The trusted host itself or, where it is a name, one of its subdomains (an address has none); always on the same port. */
function isTrusted(url: URL, port: string, trusted: URL): boolean {
  if (trusted.port === "" ? url.port !== "" : port !== trusted.port) return false;
  if (url.hostname === trusted.hostname) return true;
  if (!url.hostname.endsWith(`.${trusted.hostname}`)) return false;
  return LABELS.test(url.hostname.slice(0, -trusted.hostname.length));
}

/** Reads a web link; the host is decided before anything else of the link is looked at. */
function readWebLink(text: string, trusted: URL): PaymentLink {
  const authority = WEB_URL.exec(text)?.[2] ?? "";
  const url = urlOf(text);
  if (url === null) return no("malformed");
  const port = url.port === "" ? DEFAULT_PORT[url.protocol] : url.port;
  // The authority must be spelled as it is understood: no user info, escapes or number tricks.
  const spelled = authority.toLowerCase();
  if (spelled !== url.host && spelled !== `${url.hostname}:${port}`) return no("untrusted_host");
  if (port === undefined || !isTrusted(url, port, trusted)) return no("untrusted_host");
  if (url.protocol === "http:" && !LOOPBACK.test(trusted.hostname)) return no("insecure");
  return readPaymentId(url);
}

/** The id as the last path segment or as `pid`; two different ids are a trap, not a choice. */
function readPaymentId(url: URL): PaymentLink {
  const last = url.pathname.replace(/\/$/, "").split("/").at(-1) ?? "";
  const asked = url.searchParams.getAll("pid");
  if (asked.length > 1) return no("ambiguous");
  const [pid] = asked;
  if (PAYMENT_ID.test(last)) {
    if (pid !== undefined && pid !== last) return no("ambiguous");
    return { kind: "payment", paymentId: last, form: "path" };
  }
  if (pid === undefined || !PAYMENT_ID.test(pid)) return no("no_payment_id");
  return { kind: "payment", paymentId: pid, form: "query" };
}

/** A pairing URI carries a payment only in `pay`; the link inside follows the same rules. */
function readPairing(text: string, trusted: URL): PaymentLink {
  const inner = urlOf(text)?.searchParams.getAll("pay");
  if (inner === undefined) return no("malformed");
  const [link] = inner;
  if (link === undefined) return no("pairing_without_payment");
  if (inner.length > 1) return no("ambiguous");
  if (PAIRING.test(link)) return no("malformed");
  const read = readLink(link, trusted);
  return read.kind === "payment" ? { ...read, form: "pairing" } : read;
}

function readLink(text: string, trusted: URL): PaymentLink {
  if (!PLAIN.test(text)) return no("malformed");
  if (WEB_URL.test(text)) return readWebLink(text, trusted);
  if (PAIRING.test(text)) return readPairing(text, trusted);
  if (isPaymentId(text)) return { kind: "payment", paymentId: text, form: "bare" };
  return no("malformed");
}

/**
 * Reads the four forms of a payment link: a path URL on the pay host, `?pid=` on the pay host, a
 * `wc:` URI whose `pay` holds an encoded link, a bare id. To be asked before a wallet treats a text as
 * a generic URL or a pairing URI. Plain http counts only where the pay host itself is loopback.
 * Throws `TypeError` when `payHost` is not `host` or `host:port`.
 */
export function readPaymentLink(text: string, { payHost }: TrustedHost): PaymentLink {
  return readLink(text.replace(/^[ \r\n]+|[ \r\n]+$/g, ""), readTrusted(payHost));
}
