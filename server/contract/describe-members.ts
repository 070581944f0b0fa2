import type { JsonSchema } from "./json-schema.ts";
import { MEMBER_TEXTS, SCHEMA_TEXTS } from "./member-texts.ts";

const known = (keys: string[]): string | undefined =>
  keys
    .map((key) => (Object.hasOwn(MEMBER_TEXTS, key) ? MEMBER_TEXTS[key] : undefined))
    .find(Boolean);

/**
 * The same schema with its members in words; what the shape itself says of its rules stays behind them. `owners` are
 * what the schema belongs to, the closest first.
 */
export function describeMembers(
  schema: JsonSchema,
  owners: readonly string[],
  parent?: string,
): JsonSchema {
  const inside = (inner: JsonSchema) => describeMembers(inner, owners, parent);
  const described = { ...schema };
  if (schema.anyOf !== undefined) described.anyOf = schema.anyOf.map(inside);
  if (schema.oneOf !== undefined) described.oneOf = schema.oneOf.map(inside);
  if (schema.items !== undefined) described.items = inside(schema.items);
  if (schema.properties === undefined) return described;
  const scopes = parent === undefined ? owners : [parent, ...owners];
  described.properties = Object.fromEntries(
    Object.entries(schema.properties).map(([name, member]) => {
      const inner = describeMembers(member, owners, name);
      const words = known([...scopes.map((scope) => `${scope}.${name}`), name]);
      const description = [words, inner.description].filter(Boolean).join(" ");
      return [name, description === "" ? inner : { ...inner, description }];
    }),
  );
  return described;
}

/** Named schemas in words, each with its members. */
export const describeNamed = (schemas: Readonly<Record<string, JsonSchema>>) =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]): [string, JsonSchema] => {
      const described = describeMembers(schema, [name]);
      const words = SCHEMA_TEXTS[name];
      return [name, words === undefined ? described : { description: words, ...described }];
    }),
  );
