import { z } from "zod";
import { errorResponse, merchantErrorResponse } from "./errors.ts";
import { event, eventTopic } from "./events.ts";
import * as shapes from "./shapes.ts";

/** A JSON Schema (2020-12) of the kinds zod writes. */
export type JsonSchema = {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  additionalProperties?: JsonSchema | boolean;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  [keyword: string]: unknown;
};

/** Schemas of one document: those that have a name are written once and referred to. */
export type SchemaWriter = {
  /** `input` is what a caller may send, `output` what an answer holds. */
  write(schema: z.ZodType, io: "input" | "output"): JsonSchema;
  /** The named schemas met so far. */
  components: Record<string, JsonSchema>;
};

const named = z.registry<{ id: string }>();
for (const [name, shape] of Object.entries({ ...shapes, event, eventTopic }))
  if (shape instanceof z.ZodType && !(shape instanceof z.ZodOptional))
    named.add(shape, { id: name[0]?.toUpperCase() + name.slice(1) });
named.add(errorResponse, { id: "Error" });
named.add(merchantErrorResponse, { id: "MerchantError" });

const LARGEST = Number.MAX_SAFE_INTEGER;

/** Kinds of checks that JSON Schema has no keyword for, or only one that nobody likes to read. */
const IN_CODE = ["custom", "string_format"];

/** What a check asks for in words, as a refusal would say it. */
function rulesOf(schema: z.core.$ZodTypes): string[] {
  const { checks = [] } = schema._zod.def;
  const words = checks.flatMap(({ _zod: { def } }) => {
    if (def.error === undefined || !IN_CODE.includes(def.check)) return [];
    const said = def.error({ code: "custom", input: undefined, path: [] } as never);
    const text = typeof said === "string" ? said : said?.message;
    return text === undefined ? [] : [text];
  });
  return [...new Set(words)];
}

/** Lengths in the words of `text`, which counts characters as JSON Schema does. */
const LENGTH = /^must have at (least|most) (\d+) characters?$/;
/** What every text asks for; not worth repeating at each. */
const EVERYWHERE = ["must not contain control characters", "must be well-formed Unicode"];

/** Writes down the lengths among the rules; returns the others. */
function takeLengths(rules: string[], schema: JsonSchema): string[] {
  return rules.filter((rule) => {
    const [, side, count] = LENGTH.exec(rule) ?? [];
    if (schema.type !== "string" || count === undefined) return !EVERYWHERE.includes(rule);
    if (side === "most" || count !== "0")
      schema[side === "most" ? "maxLength" : "minLength"] = Number(count);
    return false;
  });
}

/** Keeps what a client needs to know: rules that only code checks become words, and answers may grow. */
function tidy({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonSchema }) {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  if (jsonSchema.propertyNames !== undefined) delete jsonSchema.propertyNames;
  if (jsonSchema.minimum === -LARGEST) delete jsonSchema.minimum;
  if (jsonSchema.maximum === LARGEST) delete jsonSchema.maximum;
  if (jsonSchema.$ref !== undefined) return;
  const said = jsonSchema.description?.toLowerCase() ?? "";
  const rules = takeLengths(rulesOf(zodSchema), jsonSchema).filter(
    (rule) => !said.includes(rule.toLowerCase()),
  );
  if (rules.length === 0) return;
  const words = `${rules.join("; ")}.`;
  jsonSchema.description = [jsonSchema.description, words[0]?.toUpperCase() + words.slice(1)]
    .filter((part) => part !== undefined)
    .join(" ");
}

/** Refers to a component instead of to a definition inside the schema. */
function relink(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(relink);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === "$ref" && typeof member === "string"
        ? member.replace("#/$defs/", "#/components/schemas/")
        : relink(member),
    ]),
  );
}

/** Starts an empty set of schemas. Writing throws when two different shapes would bear one name. */
export function createSchemaWriter(): SchemaWriter {
  const components: Record<string, JsonSchema> = {};
  const keep = (name: string, schema: JsonSchema) => {
    const known = components[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`${name} is not the same in requests and answers`);
    components[name] = schema;
  };
  return {
    components,
    write(schema, io) {
      const { $schema, $defs, ...written } = z.toJSONSchema(schema, {
        target: "draft-2020-12",
        io,
        unrepresentable: "any",
        metadata: named,
        override: (found) => tidy(found as Parameters<typeof tidy>[0]),
      });
      for (const [name, definition] of Object.entries($defs ?? {}))
        keep(name, relink(definition) as JsonSchema);
      return relink(written) as JsonSchema;
    },
  };
}
