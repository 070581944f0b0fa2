import { getMintDecoder } from "@solana-program/token";
import type { MintEntry } from "#server/platform/registry.ts";
import { TOKEN_2022, TOKEN_PROGRAMS } from "./assets.ts";
import type { Context } from "./context.ts";

/** What differs between a cluster and its registry entry. */
export type BootCheck = {
  fatal: string[];
  refused: { symbol: string; mint: string; reason: string }[];
};

type AccountInfo = { owner: string; data: [string, string]; executable: boolean } | null;

/** Extensions of Token-2022 mints that neither change an amount on its way nor let anybody take it back; by type. */
const HARMLESS = new Set([0, 3, 18, 19, 20, 21, 22, 23]);
/** Where the extensions of a mint begin: after the longest account of the older program and the account type. */
const EXTENSIONS_AT = 166;
const MINT_SIZE = 82;

/** The types of a mint's extensions; null: its data is cut off. */
export function extensionsOf(data: Uint8Array): number[] | null {
  if (data.length === MINT_SIZE) return [];
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const types: number[] = [];
  for (let at = EXTENSIONS_AT; at + 4 <= data.length; ) {
    const type = view.getUint16(at, true);
    if (type === 0) break;
    types.push(type);
    at += 4 + view.getUint16(at + 2, true);
    if (at > data.length) return null;
  }
  return types;
}

/** Why a mint is not what its entry says; null: it is. */
export function mintProblem(info: AccountInfo, { decimals }: MintEntry): string | null {
  if (info === null) return "no account at this address";
  if (!TOKEN_PROGRAMS.has(info.owner)) return "the account is no mint of a token program";
  const data = new Uint8Array(Buffer.from(info.data[0], "base64"));
  if (data.length < MINT_SIZE) return "the account is no mint";
  const mint = getMintDecoder().decode(data.subarray(0, MINT_SIZE));
  if (!mint.isInitialized) return "the mint is not initialised";
  if (mint.decimals !== decimals)
    return `the mint has ${mint.decimals} decimals, the registry says ${decimals}`;
  if (info.owner !== TOKEN_2022) return null;
  const extensions = extensionsOf(data);
  if (extensions === null) return "the mint's extensions cannot be read";
  const odd = extensions.filter((type) => !HARMLESS.has(type));
  return odd.length === 0
    ? null
    : `the mint has extensions that may change or take back a transfer (types ${odd.join(", ")})`;
}

/** Compares a configured cluster with what is really there, and learns which program keeps each mint. */
export async function checkCluster(context: Context): Promise<BootCheck> {
  const { rpc, entry, relayers, intermediary } = context;
  const keys = [...relayers.keys(), intermediary.address];
  const asked = [...entry.tokens.map(({ mint }) => mint), ...keys];
  const { value } = await rpc.read<{ value: AccountInfo[] }>("getMultipleAccounts", [
    asked,
    { encoding: "base64", commitment: "confirmed" },
  ]);
  const refused: BootCheck["refused"] = [];
  for (const [at, token] of entry.tokens.entries()) {
    const info = value[at] ?? null;
    const reason = mintProblem(info, token);
    if (reason !== null) refused.push({ symbol: token.symbol, mint: token.mint, reason });
    if (info !== null && TOKEN_PROGRAMS.has(info.owner))
      context.programs.set(token.mint, info.owner);
  }
  const fatal = keys
    .filter((_, at) => value[entry.tokens.length + at]?.executable === true)
    .map((key) => `${key} is a program: our keys must belong to plain accounts`);
  return { fatal, refused };
}
