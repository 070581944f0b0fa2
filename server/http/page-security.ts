import { randomBytes } from "node:crypto";
import type { Container } from "#server/container.ts";
import { readPaymentId } from "./payment-id.ts";

/** Who may show a page inside one of theirs: nobody, named origins, or any page that came by https. */
export type Framing = "nobody" | "anybody" | readonly string[];

/** What a page is served under. */
export type PageSecurity = { nonce: string; policy: string; headers: Record<string, string> };

type Mode = Container["env"]["FLORIN_MODE"];

const YEAR_S = 31_536_000;
/** Pages on the developer's own machine, which has no certificates. */
const LOOPBACK = ["http://localhost:*", "http://127.0.0.1:*"];
const PERMISSIONS =
  "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()";

function ancestors(framing: Framing, mode: Mode): string {
  if (framing === "nobody") return "'none'";
  const loopback = mode === "sandbox" ? LOOPBACK : [];
  if (framing === "anybody") return ["https:", ...loopback].join(" ");
  return framing.length === 0 ? "'none'" : framing.join(" ");
}

/** The policy of one answer. Scripts run by its nonce alone, and by what they load; everything else comes from this origin. */
export const contentPolicy = (nonce: string, framing: Framing, mode: Mode): string =>
  [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "object-src 'none'",
    `frame-ancestors ${ancestors(framing, mode)}`,
  ].join("; ");

/** Everything a page is served under, with a nonce nobody had before. */
export function pageSecurity(framing: Framing, mode: Mode): PageSecurity {
  const nonce = randomBytes(16).toString("base64");
  const policy = contentPolicy(nonce, framing, mode);
  const denied = framing === "nobody" || framing.length === 0;
  return {
    nonce,
    policy,
    headers: {
      "Content-Security-Policy": policy,
      "X-Content-Type-Options": "nosniff",
      // Payment ids and tokens stand in addresses.
      "Referrer-Policy": "no-referrer",
      "Permissions-Policy": PERMISSIONS,
      ...(denied ? { "X-Frame-Options": "DENY" } : {}),
      ...(mode === "live" ? { "Strict-Transport-Security": `max-age=${YEAR_S}` } : {}),
    },
  };
}

/** The payment a checkout address names: `/{paymentId}`, `/?pid=` and `/buy?pid=`; null: it is no such address, or names several. */
function paymentIn(path: string, query: URLSearchParams): string | null {
  const pids = query.getAll("pid");
  const named = path === "/" || path === "/buy" ? pids[0] : path.slice(1);
  if (named === undefined || pids.length > 1 || !named.startsWith("pay_")) return null;
  try {
    return readPaymentId(named, null);
  } catch {
    return null;
  }
}

/** Who may frame the page at an address. A merchant's origins that cannot be read now are none. */
export async function framingOf(
  { env, services }: Pick<Container, "env" | "services">,
  path: string,
  query: URLSearchParams,
): Promise<Framing> {
  if (path === "/collect") return "anybody";
  const paymentId = paymentIn(path, query);
  if (paymentId === null) return "nobody";
  try {
    const environment = env.FLORIN_MODE === "live" ? "live" : "test";
    return (await services.store.frameOrigins(paymentId, environment)) ?? "nobody";
  } catch (error) {
    services.log.warn({ err: error }, "the origins that may frame a checkout could not be read");
    return "nobody";
  }
}
