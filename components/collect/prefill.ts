import { COUNTRIES } from "#server/domain/collect/countries.ts";
import { COLLECTED_NAMES, type CollectedName } from "#server/domain/collect/form.ts";
import { validateCollected } from "#server/domain/collect/validate.ts";

/** What a wallet already knows of the buyer; only values the form would accept. */
export type Prefill = Partial<Record<Exclude<CollectedName, "tosConfirmed">, string>>;

/** Longest `prefill` that is looked at: seven fields of 200 characters, each of four bytes, in base64, and room. */
const LONGEST = 12_000;

/** Wallets write either alphabet, with or without padding, in lines, escaped twice, or with a `+` that became a space. */
function bytesOf(written: string): Uint8Array | null {
  try {
    const plain = written.includes("%") ? decodeURIComponent(written) : written;
    const standard = plain
      .replace(/[\r\n\t]/g, "")
      .replace(/[ -]/g, "+")
      .replaceAll("_", "/")
      .replace(/=+$/, "");
    return Uint8Array.from(atob(standard), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

/** UTF-8, or Latin-1 where it is not: `btoa` of a script gives the latter. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return String.fromCharCode(...bytes);
  }
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === "object" && read !== null ? { ...read } : {};
  } catch {
    return {};
  }
}

function tidy(name: CollectedName, value: string): string {
  const trimmed = value.trim();
  if (!name.endsWith("Country")) return trimmed;
  const code = trimmed.toUpperCase();
  return COUNTRIES.includes(code) ? code : "";
}

/** Reads the `prefill` parameter; whatever is not usable, as a whole or in one field, is left out. `today` as YYYY-MM-DD. */
export function readPrefill(written: string | undefined, today: string): Prefill {
  if (written === undefined || written.length > LONGEST) return {};
  const bytes = bytesOf(written);
  if (bytes === null) return {};
  const given = objectOf(textOf(bytes));
  const prefill: Prefill = {};
  for (const name of COLLECTED_NAMES) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (name === "tosConfirmed" || typeof value !== "string") continue;
    const tidied = tidy(name, value);
    const read = validateCollected({ [name]: tidied }, today);
    const refused = read.kind === "invalid" && read.issues.some(isAbout(name));
    if (tidied !== "" && !refused) prefill[name] = tidied;
  }
  return prefill;
}

/** Whether an issue is about the value of a field, and not about one that is missing. */
const isAbout =
  (name: string) =>
  ({ field, message }: { field: string; message: string }): boolean =>
    field === name && !message.startsWith("is required");
