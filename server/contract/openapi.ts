import type { ErrorCode } from "#server/domain/error-code.ts";
import { describeNamed } from "./describe-members.ts";
import { ERROR_TEXTS, meaningOf } from "./error-texts.ts";
import { errorResponse, merchantErrorResponse } from "./errors.ts";
import { EVENT_EXAMPLE } from "./example-events.ts";
import { REQUEST } from "./example-values.ts";
import { ANSWER_HEADERS, type AnswerHeaderName, HEADERS } from "./headers.ts";
import { createSchemaWriter, type JsonSchema } from "./json-schema.ts";
import { describeContract, type Operation, TAGS } from "./operation.ts";
import { NEWEST_STABLE } from "./version.ts";

type Json = { [member: string]: unknown };

/** An OpenAPI 3.1 document, as far as this program reads it itself. */
export type OpenApiDocument = Json & {
  openapi: "3.1.0";
  paths: Record<string, Record<string, Json>>;
  components: Json & { schemas: Record<string, JsonSchema> };
};

const INTRODUCTION = `Payments in stablecoins, settled to the merchant's own account.

Amounts are whole numbers of the unit's smallest part, as text. Times are Unix seconds where they are numbers, and ISO 8601 in UTC where they are text. Members an answer does not have today may be added; ignore what you do not know.

A 4xx answer is not worth repeating. Repeat after 5xx and where no answer came: three times, after 100 ms and then twice as long each, plus some random time. Send an Idempotency-Key with every POST of a merchant, so that a repetition does nothing twice.`;

const SECURITY: Record<Operation["endpoint"]["auth"], Json[]> = {
  merchant: [{ apiKey: [], merchantId: [] }],
  partner: [{ apiKey: [] }],
  gateway: [{ apiKey: [] }, { appId: [], clientId: [] }],
};
const scheme = (name: keyof typeof HEADERS): Json => ({
  type: "apiKey",
  in: "header",
  name,
  description: HEADERS[name].description,
});

const headerRefs = (names: readonly AnswerHeaderName[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
const COMMON: readonly AnswerHeaderName[] = [
  "Request-Id",
  "Service-Version",
  "WCP-Version",
  "RateLimit-Policy",
  "RateLimit",
];

/** A refusal as it is sent: with `code` and `message` once more on the merchant's side. */
export function errorExample(code: ErrorCode, gateway: boolean): Json {
  const { message } = ERROR_TEXTS[code];
  const body = { code, message, requestId: REQUEST };
  return gateway ? body : { ...body, status: "error", error: { code, message } };
}

/** Refusals that are written once and referred to, by their content. */
type Refusals = Map<string, { name: string; answer: Json }>;

function errorResponses({ endpoint, errors }: Operation, refusals: Refusals): Json {
  const gateway = endpoint.auth === "gateway";
  return Object.fromEntries(
    errors.map(({ status, codes }) => {
      const waits = status === 429 || status === 503 || codes.includes("idempotency_conflict");
      const examples = codes.map((code) => [
        code,
        { summary: meaningOf(code, status), value: errorExample(code, gateway) },
      ]);
      const answer = {
        description: codes.map((code) => `\`${code}\`: ${meaningOf(code, status)}`).join("\n\n"),
        headers: headerRefs(waits ? [...COMMON, "Retry-After"] : COMMON),
        content: {
          "application/json": {
            schema: { $ref: `#/components/schemas/${gateway ? "Error" : "MerchantError"}` },
            examples: Object.fromEntries(examples),
          },
        },
      };
      const key = JSON.stringify([status, answer]);
      const known = refusals.get(key) ?? { name: `refused-${refusals.size + 1}-${status}`, answer };
      refusals.set(key, known);
      return [String(status), { $ref: `#/components/responses/${known.name}` }];
    }),
  );
}

function parametersOf({ parameters, example }: Operation): Json[] {
  return parameters.map((parameter) => {
    if (parameter.in === "header") return { $ref: `#/components/parameters/${refName(parameter)}` };
    const value = (parameter.in === "path" ? example?.path : example?.query)?.[parameter.name];
    return value === undefined ? parameter : { ...parameter, example: value };
  });
}

const refName = ({ name, required }: { name: string; required: boolean }): string =>
  required ? `${name}-required` : name;

function operationObject(operation: Operation, refusals: Refusals): Json {
  const { endpoint, tag, body, response, example } = operation;
  const headers = endpoint.idempotent ? [...COMMON, "Idempotent-Replayed" as const] : COMMON;
  return {
    operationId: endpoint.operation,
    summary: endpoint.summary,
    tags: [tag],
    security: SECURITY[endpoint.auth],
    parameters: parametersOf(operation),
    ...(body === null
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              "application/json": {
                schema: body,
                ...(example?.body === undefined ? {} : { example: example.body }),
              },
            },
          },
        }),
    responses: {
      [endpoint.status]: {
        description: endpoint.summary,
        headers: headerRefs(headers),
        content: {
          "application/json": {
            schema: response,
            ...(example === null ? {} : { example: example.response }),
          },
        },
      },
      ...errorResponses(operation, refusals),
    },
  };
}

function pathsOf(operations: Operation[], refusals: Refusals): OpenApiDocument["paths"] {
  const paths: OpenApiDocument["paths"] = {};
  for (const operation of operations) {
    const { path, method } = operation.endpoint;
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationObject(operation, refusals) };
  }
  return paths;
}

const headerComponents = (operations: Operation[]): Json =>
  Object.fromEntries(
    operations
      .flatMap(({ parameters }) => parameters)
      .filter((parameter) => parameter.in === "header")
      .map((parameter) => [refName(parameter), parameter]),
  );

function errorSchemas(): Record<string, JsonSchema> {
  const { write, components } = createSchemaWriter();
  for (const schema of [errorResponse, merchantErrorResponse]) write(schema, "output");
  return describeNamed(components);
}

/** What receivers of events are sent. */
function webhooks(): Json {
  const header = (name: string, description: string) => ({
    name,
    in: "header",
    required: true,
    description,
    schema: { type: "string" },
  });
  const post = {
    operationId: "receiveEvent",
    summary: "Sent to a merchant's receivers when something happened. Check the signature first.",
    parameters: [
      header("webhook-id", "Id of the event, the same at every attempt."),
      header("webhook-timestamp", "When this attempt was signed, in Unix seconds."),
      header("webhook-signature", "Standard Webhooks signatures, with spaces between them."),
    ],
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: { $ref: "#/components/schemas/Event" },
          example: EVENT_EXAMPLE,
        },
      },
    },
    responses: {
      "2XX": { description: "Received. Any other answer, and the event is sent again." },
    },
  };
  return { event: { post } };
}

/** The whole API as an OpenAPI 3.1 document; `baseUrl` is where this server is reached. */
export function openApiDocument(baseUrl: string): OpenApiDocument {
  const { operations, components } = describeContract();
  const refusals: Refusals = new Map();
  const paths = pathsOf(operations, refusals);
  const tags = TAGS.filter(({ name }) => operations.some(({ tag }) => tag === name));
  return {
    openapi: "3.1.0",
    info: {
      title: "Florin",
      version: NEWEST_STABLE,
      description: INTRODUCTION,
      license: { name: "MIT", identifier: "MIT" },
    },
    jsonSchemaDialect: "https://json-schema.org/draft/2020-12/schema",
    servers: [{ url: baseUrl }],
    tags: tags.map(({ name, description }) => ({ name, description })),
    paths,
    webhooks: webhooks(),
    components: {
      securitySchemes: {
        apiKey: scheme("Api-Key"),
        merchantId: scheme("Merchant-Id"),
        appId: scheme("App-Id"),
        clientId: scheme("Client-Id"),
      },
      parameters: headerComponents(operations),
      headers: ANSWER_HEADERS,
      responses: Object.fromEntries(
        [...refusals.values()].map(({ name, answer }) => [name, answer]),
      ),
      schemas: { ...components, ...errorSchemas() },
    },
  };
}
