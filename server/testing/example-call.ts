import type { EndpointShape } from "#server/contract/endpoint.ts";
import { EXAMPLES } from "#server/contract/examples.ts";
import type { Demo } from "#server/sandbox/seed.ts";

/** A call that can be changed before it is sent; header names are written as the contract writes them. */
export type GoodCall = {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Record<string, string>;
  body?: unknown;
};

/** The credentials an endpoint asks for: the first demo merchant's, its partner's, or a wallet's. */
export function credentialsFor(endpoint: EndpointShape, demo: Demo): Record<string, string> {
  const [shop] = demo.merchants;
  if (endpoint.auth === "gateway") return { "Api-Key": demo.gateway.apiKey };
  if (endpoint.auth === "partner") return { "Api-Key": demo.partner?.apiKey ?? "" };
  return { "Api-Key": shop?.apiKey ?? "", "Merchant-Id": shop?.id ?? "" };
}

/** The call of an endpoint's example; `ids` stand for the names in its path. */
export function exampleCall(
  endpoint: EndpointShape,
  demo: Demo,
  ids: Record<string, string>,
): GoodCall {
  const example = EXAMPLES[endpoint.operation];
  const path = endpoint.path.replace(
    /\{(\w+)\}/g,
    (_, name: string) => ids[name] ?? example?.path?.[name] ?? "none",
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(example?.query ?? {}))
    for (const one of [value].flat()) query.append(name, String(one));
  return {
    method: endpoint.method,
    path,
    query,
    headers: credentialsFor(endpoint, demo),
    ...(example?.body === undefined ? {} : { body: example.body }),
  };
}

/** Path and query as they are sent. */
export const targetOf = ({ path, query }: Pick<GoodCall, "path" | "query">): string =>
  query.size === 0 ? path : `${path}?${query}`;
