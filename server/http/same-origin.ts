import { AppError } from "#server/platform/app-error.ts";

type OwnOrigins = { checkoutUrl: string; baseUrl: string };

const foreign = () => new AppError("forbidden", "Pages of other origins may not call this");

/**
 * Refuses a call that a page of another origin makes a browser send. A browser names the page in `Sec-Fetch-Site`, or where
 * it does not (plain http on a local network), in `Origin`; programs that are no browsers send neither.
 */
export function requireOwnOrigin(headers: Headers, own: OwnOrigins): void {
  const site = headers.get("sec-fetch-site");
  if (site !== null) {
    if (site === "same-origin" || site === "none") return;
    throw foreign();
  }
  const origin = headers.get("origin");
  if (origin === null) return;
  const url = URL.parse(origin);
  const host = headers.get("host");
  const isOwn =
    url !== null &&
    (url.host === host ||
      url.origin === URL.parse(own.checkoutUrl)?.origin ||
      url.origin === URL.parse(own.baseUrl)?.origin);
  if (!isOwn) throw foreign();
}
