import { AppError } from "#server/platform/app-error.ts";

/** Hosts (with port, if any) whose links name payments of ours. */
export type OwnHosts = { payHost: string; checkoutUrl: string; baseUrl: string };

const PAYMENT_ID = /^pay_[0-9A-Za-z]{1,60}$/;
/** Wallets encode a link that is not on their own host, and encode it again into the path. */
const DECODE_TWICE = 2;

/** Decodes percent signs once; null: malformed. */
function decode(value: string): string | null {
  try {
    return decodeURIComponent(value);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

function isOwnHost(host: string, hosts: OwnHosts): boolean {
  const pay = hosts.payHost.toLowerCase();
  return (
    host === pay ||
    host.endsWith(`.${pay}`) ||
    host === URL.parse(hosts.checkoutUrl)?.host ||
    host === URL.parse(hosts.baseUrl)?.host
  );
}

/** The payment a link on one of our hosts names; null: no such link. */
function idInLink(value: string, hosts: OwnHosts): string | null {
  const link = URL.parse(value);
  if (link === null || (link.protocol !== "https:" && link.protocol !== "http:")) return null;
  if (!isOwnHost(link.host, hosts)) return null;
  const id =
    link.searchParams.get("pid") ?? link.pathname.replace(/\/+$/, "").split("/").at(-1) ?? "";
  return PAYMENT_ID.test(id) ? id : null;
}

/**
 * The payment id in a path segment that was percent-decoded once. `hosts` null: bare ids only.
 * Anything that cannot be an id is a payment that does not exist.
 */
export function readPaymentId(segment: string, hosts: OwnHosts | null): string {
  if (PAYMENT_ID.test(segment)) return segment;
  let value: string | null = segment;
  for (let round = 0; hosts !== null && value !== null && round <= DECODE_TWICE; round++) {
    const id: string | null = PAYMENT_ID.test(value) ? value : idInLink(value, hosts);
    if (id !== null) return id;
    value = decode(value);
  }
  throw new AppError("payment_not_found", "Payment not found");
}
