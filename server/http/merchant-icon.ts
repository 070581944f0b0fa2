import { container } from "#server/container.ts";
import { AppError } from "#server/platform/app-error.ts";
import type { Icon } from "#server/ports/checkout.ts";
import { newRequestId } from "./answer.ts";
import type { Connection } from "./connection.ts";
import type { RouteHandler } from "./define-route.ts";
import { countPageAddress } from "./limits.ts";
import { refusedPath, unknownPath } from "./not-served.ts";

const ID = /^[A-Za-z0-9_-]{1,100}$/;
/** A name with the digest of the icon in it never means another one. */
const FOR_EVER = "public, max-age=31536000, immutable";
const FOR_A_WHILE = "public, max-age=300";

async function iconOf(request: Request, merchantId: string, connection: Connection | undefined) {
  const parts = container();
  const from = { connection, headers: request.headers };
  await countPageAddress(parts, { policy: "", closest: null }, from);
  return ID.test(merchantId) ? parts.services.store.merchantIcon(merchantId) : null;
}

function answer(request: Request, icon: Icon): Response {
  const asked = URL.parse(request.url)?.searchParams.get("v") ?? "";
  const etag = `"${icon.digest.slice(0, 16)}"`;
  const headers = {
    "Content-Type": icon.type,
    "Cache-Control": asked !== "" && icon.digest.startsWith(asked) ? FOR_EVER : FOR_A_WHILE,
    ETag: etag,
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Content-Disposition": "inline",
    "Request-Id": newRequestId(),
  };
  if (request.headers.get("if-none-match") === etag)
    return new Response(null, { status: 304, headers });
  return new Response(new Uint8Array(icon.bytes), { status: 200, headers });
}

/** GET /m/{merchantId}/icon: a merchant's icon, as bytes that no browser takes for anything else. */
export const merchantIcon: RouteHandler = async (request, { params, connection }) => {
  const { merchantId = "" } = (await params) ?? {};
  const path = `/m/${merchantId}/icon`;
  try {
    const icon = await iconOf(request, merchantId, connection);
    return icon === null ? unknownPath(path) : answer(request, icon);
  } catch (error) {
    if (error instanceof AppError) return refusedPath(error, path);
    throw error;
  }
};
