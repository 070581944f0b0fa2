import type { ErrorCode } from "#server/domain/error-code.ts";
import { describeMembers, describeNamed } from "./describe-members.ts";
import { type EndpointShape, possibleErrors } from "./endpoint.ts";
import { ERROR_STATUS } from "./errors.ts";
import { EXAMPLES, type Example } from "./examples.ts";
import { HEADERS, type HeaderName } from "./headers.ts";
import { ENDPOINTS } from "./index.ts";
import { createSchemaWriter, type JsonSchema } from "./json-schema.ts";
import { PARAMETER_TEXTS } from "./member-texts.ts";

/** One thing a call takes outside its body. */
export type Parameter = {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  description: string;
  schema: JsonSchema;
};

/** An endpoint with everything people and programs are told about it. */
export type Operation = {
  endpoint: EndpointShape;
  tag: string;
  parameters: Parameter[];
  body: JsonSchema | null;
  response: JsonSchema;
  /** Every code it can answer, by status, lowest first. */
  errors: { status: number; codes: ErrorCode[] }[];
  /** Null: nobody wrote one yet, which a test refuses. */
  example: Example | null;
};

/** The groups of the description in the order in which a newcomer needs them; the first that fits takes an endpoint. */
export const TAGS: readonly { name: string; description: string; path: RegExp }[] = [
  {
    name: "Payments",
    description:
      "What a shop's backend needs: create a payment, ask where it stands, list them all.",
    path: /^\/v1\/(payments|merchants\/payments)/,
  },
  {
    name: "Merchant payments",
    description: "The two calls of terminals and shops that speak the protocol's first form.",
    path: /^\/v1\/merchant\//,
  },
  { name: "Refunds", description: "Money that goes back to buyers.", path: /refund/ },
  {
    name: "Webhooks",
    description: "Events sent to a merchant's own address, signed.",
    path: /^\/v1\/webhook/,
  },
  {
    name: "Events",
    description: "The same events as a feed to read from, without gaps.",
    path: /^\/v1\/events/,
  },
  {
    name: "Merchants",
    description: "A partner's merchants.",
    path: /^\/v1\/merchants(\/\{\w+\})?$/,
  },
  {
    name: "Settlements",
    description: "Where a merchant's money goes.",
    path: /settlement/,
  },
  {
    name: "Gateway",
    description: "What a wallet needs to show and pay a payment.",
    path: /^\/v1\/gateway\//,
  },
  { name: "Other", description: "Everything else.", path: /^/ },
];

const tagOf = (path: string): string => TAGS.find((tag) => tag.path.test(path))?.name ?? "Other";

const CREDENTIALS: Record<EndpointShape["auth"], readonly HeaderName[]> = {
  merchant: ["Api-Key", "Merchant-Id"],
  partner: ["Api-Key"],
  gateway: ["Api-Key", "App-Id", "Client-Id"],
};
const ALWAYS: readonly HeaderName[] = [
  "Service-Version",
  "WCP-Version",
  "Sdk-Name",
  "Sdk-Version",
  "Sdk-Platform",
];

function headerParameters({ auth, idempotent }: EndpointShape): Parameter[] {
  const names = [
    ...CREDENTIALS[auth],
    ...(idempotent ? (["Idempotency-Key"] as const) : []),
    ...ALWAYS,
  ];
  return names.map((name) => ({
    name,
    in: "header",
    required: auth !== "gateway" && CREDENTIALS[auth].includes(name),
    ...HEADERS[name],
  }));
}

const pathParameters = (path: string, tag: string): Parameter[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: PARAMETER_TEXTS[`${tag}.${name}`] ?? PARAMETER_TEXTS[name] ?? "",
    schema: { type: "string" },
  }));

function queryParameters(query: JsonSchema | null): Parameter[] {
  return Object.entries(query?.properties ?? {}).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: query?.required?.includes(name) ?? false,
    description: [PARAMETER_TEXTS[name], description].filter(Boolean).join(" "),
    schema,
  }));
}

/** Operations in which accounts or signatures are looked at, and refused with 422. */
export const UNPROCESSABLE: readonly string[] = ["listPaymentOptions", "confirmPayment"];

/** A code's own status, and those it has where a refusal overrides it. */
function statusesOf(code: ErrorCode, { operation, body }: EndpointShape): number[] {
  const own = ERROR_STATUS[code];
  if (code === "internal_error") return [own, 503];
  if (code === "invalid_params" && body !== null) return [own, 413, 415];
  if (code === "params_validation" && UNPROCESSABLE.includes(operation)) return [own, 422];
  return [own];
}

function errorsOf(endpoint: EndpointShape): Operation["errors"] {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of possibleErrors(endpoint))
    for (const status of statusesOf(code, endpoint))
      byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  return [...byStatus]
    .toSorted(([a], [b]) => a - b)
    .map(([status, codes]) => ({ status, codes: codes.toSorted() }));
}

const METHODS = ["POST", "GET", "PATCH", "PUT", "DELETE"];
const placeOf = ({ tag, endpoint: { path, method } }: Operation): (string | number)[] => [
  TAGS.findIndex(({ name }) => name === tag),
  path.length,
  path,
  METHODS.indexOf(method),
];

/** By group, then by path, short ones first, with what makes a thing before what reads it. */
function inOrder(a: Operation, b: Operation): number {
  const other = placeOf(b);
  for (const [index, own] of placeOf(a).entries()) {
    const theirs = other[index] ?? own;
    if (own !== theirs) return own < theirs ? -1 : 1;
  }
  return 0;
}

/** Everything served, described, in the order of a newcomer's needs; schemas with a name are in `components`. */
export function describeContract(endpoints: readonly EndpointShape[] = ENDPOINTS): {
  operations: Operation[];
  components: Record<string, JsonSchema>;
} {
  const { write, components } = createSchemaWriter();
  const operations = endpoints.map((endpoint): Operation => {
    const { operation, path, query, body } = endpoint;
    const tag = tagOf(path);
    const owners = [operation, tag];
    return {
      endpoint,
      tag,
      parameters: [
        ...pathParameters(path, tag),
        ...queryParameters(query === null ? null : write(query, "input")),
        ...headerParameters(endpoint),
      ],
      body:
        body === null
          ? null
          : describeMembers(write(body, "input"), [`${operation} body`, ...owners]),
      response: describeMembers(write(endpoint.response, "output"), owners),
      errors: errorsOf(endpoint),
      example: EXAMPLES[operation] ?? null,
    };
  });
  return { operations: operations.toSorted(inOrder), components: describeNamed(components) };
}
