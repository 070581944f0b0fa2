import type { Operation } from "#server/contract/operation.ts";

const CREDENTIALS: Record<Operation["endpoint"]["auth"], readonly string[]> = {
  merchant: ["Api-Key: $API_KEY", "Merchant-Id: $MERCHANT_ID"],
  partner: ["Api-Key: $API_KEY"],
  gateway: ["Api-Key: $WALLET_KEY"],
};

function addressOf(baseUrl: string, { endpoint, example }: Operation): string {
  const path = endpoint.path.replace(/\{(\w+)\}/g, (whole, name) => example?.path?.[name] ?? whole);
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(example?.query ?? {}))
    for (const one of [value].flat()) query.append(name, one);
  return `${baseUrl}${path}${query.size === 0 ? "" : `?${query}`}`;
}

/** The example of an operation as a command for a POSIX shell. */
export function curlOf(baseUrl: string, operation: Operation): string {
  const { endpoint, example } = operation;
  const { method, auth, idempotent } = endpoint;
  const headers = [
    ...CREDENTIALS[auth],
    ...(idempotent ? ["Idempotency-Key: any-text-of-yours"] : []),
    ...(example?.body === undefined ? [] : ["Content-Type: application/json"]),
  ];
  const verb = method === "GET" ? "" : `-X ${method} `;
  const body = JSON.stringify(example?.body, null, 2)?.replaceAll("'", "'\\''");
  return [
    `curl ${verb}"${addressOf(baseUrl, operation)}"`,
    ...headers.map((header) => `  -H "${header}"`),
    ...(body === undefined ? [] : [`  -d '${body}'`]),
  ].join(" \\\n");
}
