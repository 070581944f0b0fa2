/** A chain account: CAIP-2 chain and the address in canonical form (lower-case on eip155). */
export type Account = { chain: string; address: string };

/** A token on a chain, from CAIP-19. */
export type AssetRef = { chain: string; namespace: string; reference: string };

const CAIP2 = /^([-a-z0-9]{3,8}):([-_a-zA-Z0-9]{1,32})$/;
const CAIP10 = /^([-a-z0-9]{3,8}):([-_a-zA-Z0-9]{1,32}):([-.%a-zA-Z0-9]{1,128})$/;
const CAIP19 = /^([-a-z0-9]{3,8}):([-_a-zA-Z0-9]{1,32})\/([-a-z0-9]{3,8}):([-.%a-zA-Z0-9]{1,128})$/;
const EVM_REFERENCE = /^[1-9][0-9]{0,17}$/;
const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
/** 32 bytes in base58 are 32 to 44 characters. */
const SOLANA_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Whether base58 text stands for exactly 32 bytes; each leading `1` is a byte of zero. */
function isSolanaAddress(text: string): boolean {
  if (!SOLANA_ADDRESS.test(text)) return false;
  const zeros = text.length - text.replace(/^1+/, "").length;
  let value = 0n;
  for (const letter of text) value = value * 58n + BigInt(BASE58.indexOf(letter));
  const bytes = value === 0n ? 0 : Math.ceil(value.toString(16).length / 2);
  return zeros + bytes === 32;
}

/** Whether `value` is a CAIP-2 chain id. */
export const isChainId = (value: string): boolean => CAIP2.test(value);

/**
 * Reads a CAIP-10 account. Null: not CAIP-10, or an address its namespace cannot have.
 * A wrong mixed-case checksum on eip155 is tolerated; the address comes back in lower case.
 */
export function parseAccount(value: string): Account | null {
  const match = CAIP10.exec(value);
  if (match === null) return null;
  const [, namespace = "", reference = "", address = ""] = match;
  if (namespace === "eip155") {
    if (!EVM_REFERENCE.test(reference) || !EVM_ADDRESS.test(address)) return null;
    return { chain: `${namespace}:${reference}`, address: address.toLowerCase() };
  }
  if (namespace === "solana" && !isSolanaAddress(address)) return null;
  return { chain: `${namespace}:${reference}`, address };
}

/** Reads a CAIP-19 asset without the `caip19/` prefix; eip155 references come back in lower case. Null: malformed. */
export function parseAsset(value: string): AssetRef | null {
  const match = CAIP19.exec(value);
  if (match === null) return null;
  const [, chainNamespace = "", chainReference = "", namespace = "", reference = ""] = match;
  const chain = `${chainNamespace}:${chainReference}`;
  if (chainNamespace !== "eip155") return { chain, namespace, reference };
  if (!EVM_REFERENCE.test(chainReference)) return null;
  if (namespace === "erc20" && !EVM_ADDRESS.test(reference)) return null;
  return { chain, namespace, reference: reference.toLowerCase() };
}

/** The canonical spelling of an asset: what database rows and comparisons use. */
export const assetId = ({ chain, namespace, reference }: AssetRef): string =>
  `${chain}/${namespace}:${reference}`;

/** The CAIP-10 spelling of an account. */
export const accountId = ({ chain, address }: Account): string => `${chain}:${address}`;

/** Chain of a CAIP-19 asset. */
export const chainOf = (asset: string): string => asset.slice(0, asset.indexOf("/"));

/** Address of a CAIP-10 account. */
export const addressOf = (account: string): string => account.slice(account.lastIndexOf(":") + 1);
