import { COUNTRY_PATTERN } from "./countries.ts";

/** Everything that can be asked of a buyer; a place of birth or a place of residence is enough. */
export const COLLECTED_NAMES = [
  "fullName",
  "dob",
  "pobCountry",
  "pobAddress",
  "porCountry",
  "porAddress",
  "tosConfirmed",
] as const;
export type CollectedName = (typeof COLLECTED_NAMES)[number];

/** One buyer's answers that passed the rules, as text; `tosConfirmed` is `"true"`. */
export type CollectedFields = { name: CollectedName; value: string }[];

/** Code points a name or an address may have. */
export const MAX_TEXT = 200;

/** No C0 or C1 control anywhere, and something besides white space. */
export const TEXT_PATTERN =
  "^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u001f\\u007f-\\u009f]*$";

export const REQUIRED = ["fullName", "dob", "tosConfirmed"] as const;
/** One of these pairs is required too. */
export const PLACES = [
  ["pobCountry", "pobAddress"],
  ["porCountry", "porAddress"],
] as const;

/** What is asked for, in the words of a refusal. */
export const DEMANDED = `${REQUIRED.join(", ")}, ${PLACES.map((pair) => pair.join(" and ")).join(" or ")}`;

const country = (title: string) => ({ type: "string", title, pattern: COUNTRY_PATTERN });
const address = (title: string) => ({
  type: "string",
  title,
  maxLength: MAX_TEXT,
  pattern: TEXT_PATTERN,
});

/** The form as a JSON Schema (2020-12), for wallets that draw their own. */
export const COLLECT_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: {
    fullName: {
      type: "string",
      title: "Full name",
      minLength: 1,
      maxLength: MAX_TEXT,
      pattern: TEXT_PATTERN,
    },
    dob: {
      type: "string",
      title: "Date of birth",
      format: "date",
      pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    },
    pobCountry: country("Country of birth"),
    pobAddress: address("Place of birth"),
    porCountry: country("Country of residence"),
    porAddress: address("Place of residence"),
    tosConfirmed: { type: "boolean", title: "I agree to the terms of service", const: true },
  },
  required: [...REQUIRED],
  anyOf: PLACES.map((pair) => ({ required: [...pair] })),
  additionalProperties: false,
};

/** The older description of the form, which clients still require; incomplete where the schema is not. */
export const COLLECT_FIELDS = [
  { type: "text", id: "fullName", name: "Full name", required: true },
  { type: "date", id: "dob", name: "Date of birth", required: true },
];

/** Whether these names together are a whole form. */
export function isWholeForm(names: readonly string[]): boolean {
  const has = (name: string) => names.includes(name);
  return REQUIRED.every(has) && PLACES.some((pair) => pair.every(has));
}
