import type { CollectedData } from "#server/client/wallet/client.ts";

/** Data of nobody, which passes the rules of the form. */
const NOBODY: CollectedData["fields"] = [
  { id: "fullName", value: "Sandbox Buyer" },
  { id: "dob", value: "1990-01-31" },
  { id: "pobCountry", value: "CH" },
  { id: "pobAddress", value: "Bern" },
  { id: "tosConfirmed", value: "true" },
];

/** Made-up answers to those fields of a form's JSON Schema that are known here. */
export function fillForm(schema: unknown): CollectedData["fields"] {
  if (typeof schema !== "object" || schema === null || !("properties" in schema)) return [];
  const { properties } = schema;
  if (typeof properties !== "object" || properties === null) return [];
  return NOBODY.filter(({ id }) => Object.hasOwn(properties, id));
}
