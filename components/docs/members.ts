import type { JsonSchema } from "#server/contract/json-schema.ts";

/** A piece of a type in words; `schema` names the object it stands for, null where it is plain. */
export type TypePart = { text: string; schema: string | null };

/** One member of a body, an answer or a named object, as a line of a list. */
export type MemberLine = {
  /** Path from the outermost object, such as `data[].amount`. */
  name: string;
  /** How many objects it is inside of. */
  depth: number;
  type: TypePart[];
  required: boolean;
  description: string;
};

const plain = (text: string): TypePart[] => [{ text, schema: null }];
const either = (parts: TypePart[][]): TypePart[] =>
  parts.flatMap((part, index) => (index === 0 ? part : [...plain(" or "), ...part]));

const WORDS: Record<string, string> = { array: "list", object: "object", null: "null" };
const schemaName = (ref: string): string => ref.slice(ref.lastIndexOf("/") + 1);

/** The type of a schema in words, such as `string or null`. */
export function typeOf(schema: JsonSchema): TypePart[] {
  if (schema.$ref !== undefined) {
    const name = schemaName(schema.$ref);
    return [{ text: name, schema: name }];
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return either(choices.map(typeOf));
  if (schema.const !== undefined) return plain(JSON.stringify(schema.const));
  if (schema.enum !== undefined)
    return plain(schema.enum.map((value) => JSON.stringify(value)).join(" or "));
  if (schema.type === "array") return [...plain("list of "), ...typeOf(schema.items ?? {})];
  if (schema.type === undefined) return plain("anything");
  if (schema.type === "object" && schema.properties === undefined)
    return [...plain("object of "), ...typeOf(valuesOf(schema))];
  const format = schema.format === undefined ? "" : ` (${schema.format})`;
  return either([schema.type].flat().map((type) => plain(`${WORDS[type] ?? type}${format}`)));
}

const valuesOf = ({ additionalProperties }: JsonSchema): JsonSchema =>
  typeof additionalProperties === "object" ? additionalProperties : {};

function range(least: unknown, most: unknown, what: string): string[] {
  if (typeof least === "number" && typeof most === "number") return [`${least} to ${most}${what}`];
  if (typeof most === "number") return [`at most ${most}${what}`];
  return typeof least === "number" && least > 0 ? [`at least ${least}${what}`] : [];
}

/** The one kind of value beside null; the schema itself where there are several. */
function loneChoice(schema: JsonSchema): JsonSchema {
  const [alone, ...others] = (schema.anyOf ?? []).filter(({ type }) => type !== "null");
  return alone === undefined || others.length > 0 ? schema : alone;
}

const sentence = (words: string): string =>
  words === "" ? "" : `${words[0]?.toUpperCase()}${words.slice(1)}.`;

/** What a member is, and the lengths, bounds and rules of its value. */
export function describe(schema: JsonSchema): string {
  const value = loneChoice(schema);
  const rules = value === schema ? undefined : value.description;
  return [schema.description, rules, sentence(boundsOf(value))].filter(Boolean).join(" ");
}

/** Lengths and bounds in words. */
function boundsOf(bounded: JsonSchema): string {
  return [
    ...range(bounded.minLength, bounded.maxLength, " characters"),
    ...range(bounded.minItems, bounded.maxItems, " entries"),
    ...range(bounded.minimum, bounded.maximum, ""),
  ].join(", ");
}

/** What a schema holds without a name of its own: its members, also through lists and `or null`. */
function inside(schema: JsonSchema, name: string): { schema: JsonSchema; name: string }[] {
  if (schema.$ref !== undefined) return [];
  if (schema.properties !== undefined) return [{ schema, name }];
  if (schema.items !== undefined) return inside(schema.items, `${name}[]`);
  return [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((one) => inside(one, name));
}

/** Every member of a schema, outer ones before those inside them; objects with a name are not opened. */
export function membersOf(schema: JsonSchema, prefix = "", depth = 0): MemberLine[] {
  return inside(schema, prefix).flatMap(({ schema: object, name: base }) =>
    Object.entries(object.properties ?? {}).flatMap(([own, member]) => {
      const name = base === "" ? own : `${base}.${own}`;
      const line: MemberLine = {
        name,
        depth,
        type: typeOf(member),
        required: object.required?.includes(own) ?? false,
        description: describe(member),
      };
      return [line, ...membersOf(member, name, depth + 1)];
    }),
  );
}
