import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { possibleErrors } from "./endpoint.ts";
import { EXAMPLES } from "./examples.ts";
import { ENDPOINTS } from "./index.ts";
import type { JsonSchema } from "./json-schema.ts";
import { openApiDocument } from "./openapi.ts";
import { UNPROCESSABLE } from "./operation.ts";

type Response = {
  $ref?: string;
  content: { "application/json": { schema: JsonSchema; examples?: Record<string, unknown> } };
};
type Documented = {
  operationId: string;
  parameters: { $ref?: string; name?: string; description?: string }[];
  requestBody?: { content: { "application/json": { schema: JsonSchema } } };
  responses: Record<string, Response>;
};

const document = openApiDocument("https://api.example.com");
const documented = (operation: string): Documented => {
  const found = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods) as unknown as Documented[])
    .find(({ operationId }) => operationId === operation);
  if (found === undefined) throw new Error(`${operation} is not described`);
  const responses = Object.entries(found.responses).map(([status, response]) => {
    const name = response.$ref?.split("/").at(-1) ?? "";
    const refusals = document.components.responses as Record<string, Response>;
    return [status, response.$ref === undefined ? response : refusals[name]];
  });
  return { ...found, responses: Object.fromEntries(responses) };
};

/** Reads a described schema back, without the shape it was made of. */
function schemaOf(described: JsonSchema): z.ZodType {
  const whole = { ...described, $defs: document.components.schemas };
  const text = JSON.stringify(whole).replaceAll("#/components/schemas/", "#/$defs/");
  return z.fromJSONSchema(JSON.parse(text));
}

// Guarantee: any tool that reads OpenAPI 3.1 can read the description.
test("the document is valid OpenAPI 3.1", async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(document));
  expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
  expect(validator.version).toBe("3.1");
  expect(() => validator.resolveRefs()).not.toThrow();
});

// Guarantee: what is served is described, and nothing else is.
test("every endpoint is described once, under a name of its own, in a group", () => {
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(calls.toSorted()).toEqual(
    ENDPOINTS.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
  const names = ENDPOINTS.map(({ operation }) => operation);
  expect(new Set(names).size).toBe(names.length);
  expect(Object.keys(EXAMPLES).filter((name) => !names.includes(name))).toEqual([]);
  expect(UNPROCESSABLE.filter((name) => !names.includes(name))).toEqual([]);
  expect(JSON.stringify(document.tags)).not.toContain('"Other"');
});

// Guarantee: everything the description refers to is in it.
test("no reference leads nowhere", () => {
  const refs = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g);
  const missing = [...refs].filter(
    ([, kind = "", name = ""]) => !Object.hasOwn(Object(document.components[kind]), name),
  );
  expect(missing).toEqual([]);
});

describe.each(ENDPOINTS.map((endpoint) => [endpoint.operation, endpoint] as const))(
  "%s",
  (operation, endpoint) => {
    const example = EXAMPLES[operation];

    // Guarantee: an example in the description is a call this server takes and an answer it gives.
    test("has an example that its contract and its description accept", () => {
      const described = documented(operation);
      const success = described.responses[endpoint.status]?.content["application/json"].schema;
      expect(endpoint.response.parse(example?.response)).toEqual(example?.response);
      expect(schemaOf(success ?? {}).parse(example?.response)).toEqual(example?.response);
      expect(endpoint.query?.safeParse(example?.query ?? {}).error).toBeUndefined();
      expect(Object.keys(example?.path ?? {}).map((name) => `{${name}}`)).toEqual(
        endpoint.path.match(/\{\w+\}/g) ?? [],
      );
      if (example?.body === undefined) return;
      const body = described.requestBody?.content["application/json"].schema;
      expect(endpoint.body?.safeParse(example.body).error).toBeUndefined();
      expect(schemaOf(body ?? {}).safeParse(example.body).error).toBeUndefined();
    });

    // Guarantee: an endpoint that takes a body shows one.
    test("shows a body exactly where it takes one", () => {
      expect(example?.body !== undefined).toBe(endpoint.body !== null);
    });

    // Guarantee: no refusal comes as a surprise.
    test("names every code it can answer, with an example of each", () => {
      const { responses } = documented(operation);
      const refusals = Object.entries(responses).filter(([status]) => Number(status) >= 400);
      const examples = refusals.flatMap(([, { content }]) =>
        Object.entries(content["application/json"].examples ?? {}).map(
          ([code, shown]) => [code, content["application/json"].schema, shown] as const,
        ),
      );
      const codes = new Set(examples.map(([code]) => code));
      expect([...codes].toSorted()).toEqual(possibleErrors(endpoint).toSorted());
      for (const [code, schema, shown] of examples) {
        const { value } = shown as { value: { code: string } };
        expect(schemaOf(schema).parse(value)).toEqual(value);
        expect(value.code).toBe(code);
      }
    });

    // Guarantee: nobody has to guess what a parameter or a member is for.
    test("explains each parameter and each member", () => {
      const { parameters, requestBody, responses } = documented(operation);
      const silent = parameters.filter((p) => p.$ref === undefined && !p.description);
      expect(silent.map(({ name }) => name)).toEqual([]);
      const body = requestBody?.content["application/json"].schema ?? {};
      const answer = responses[endpoint.status]?.content["application/json"].schema ?? {};
      expect([...unexplained(body), ...unexplained(answer)]).toEqual([]);
    });
  },
);

/** Names of the members of a schema that have no words. */
function unexplained(schema: JsonSchema): string[] {
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), schema.items ?? {}];
  const members = Object.entries(schema.properties ?? {});
  return [
    ...members.filter(([, { description }]) => !description).map(([name]) => name),
    ...[...members.map(([, member]) => member), ...inner]
      .filter((nested) => Object.keys(nested).length > 0)
      .flatMap(unexplained),
  ];
}

// Guarantee: the shapes many endpoints share are explained too.
test("every named schema and every member of one is explained", () => {
  const { schemas } = document.components;
  const silent = Object.entries(schemas).flatMap(([name, schema]) =>
    [...unexplained(schema), ...(schema.description ? [] : ["itself"])].map(
      (member) => `${name}.${member}`,
    ),
  );
  expect(silent).toEqual([]);
});
