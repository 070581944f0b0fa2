import { hash } from "node:crypto";
import { container } from "#server/container.ts";
import { openApiDocument } from "#server/contract/openapi.ts";

type Served = { text: string; etag: string };
let served: Served | undefined;

function description(): Served {
  if (served !== undefined) return served;
  const text = JSON.stringify(openApiDocument(container().env.baseUrl));
  served = { text, etag: `"${hash("sha256", text, "base64url")}"` };
  return served;
}

/** Whether a list of tags, as a browser sends it, names this one; weak tags count as the same text. */
const names = (list: string, etag: string): boolean =>
  list.split(",").some((tag) => ["*", etag].includes(tag.trim().replace(/^W\//, "")));

/** GET /openapi.json: the API description, made once; 304 for who has it already. Any origin may read it. */
export async function openapi(request: Request): Promise<Response> {
  const { text, etag } = description();
  const headers = {
    ETag: etag,
    "Cache-Control": "public, max-age=300",
    "Access-Control-Allow-Origin": "*",
    "X-Content-Type-Options": "nosniff",
  };
  if (names(request.headers.get("if-none-match") ?? "", etag))
    return new Response(null, { status: 304, headers });
  return new Response(text, {
    headers: { ...headers, "Content-Type": "application/json" },
  });
}
