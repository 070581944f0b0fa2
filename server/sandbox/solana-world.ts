import { randomBytes } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { type Address, address, getBase58Decoder, getBase58Encoder, none, some } from "@solana/kit";
import { getMintEncoder, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import { z } from "zod";
import type { SolanaEntry } from "#server/platform/registry.ts";
import { rpc as solanaRpc } from "./node-rpc.ts";
import type { Surfpool } from "./surfpool.ts";

/** A key as wallets keep it: 64 bytes in base58. */
const secretKey = z.string();

/** What a world remembers of its Solana side; the chain itself is new at every start. */
export const solanaMemorySchema = z.object({
  relayerKeys: z.array(secretKey),
  intermediaryKey: secretKey,
  mint: z.string(),
  mintAuthority: z.string(),
  buyers: z.array(z.object({ name: z.string(), holds: z.string(), key: secretKey })),
});

export type SolanaMemory = z.infer<typeof solanaMemorySchema>;

/** A running Solana chain with this world's mint and accounts on it. */
export type SolanaWorld = Surfpool & {
  memory: SolanaMemory;
  assets: { usdc: string; sol: string };
};

const BUYERS = [
  { name: "everything", holds: "USDC and SOL on Solana", usdc: true, sol: true },
  { name: "usdc", holds: "USDC on Solana and no SOL", usdc: true, sol: false },
  { name: "sol", holds: "SOL and no tokens on Solana", usdc: false, sol: true },
] as const;

/** 100,000 whole tokens of six decimals, and 1,000 SOL in lamports. */
const BUYER_TOKENS = 100_000_000_000n;
const BUYER_LAMPORTS = 1_000_000_000_000n;
const RELAYER_LAMPORTS = 1_000_000_000_000n;
/** What an account must hold to stay, in lamports. */
const RENT_MINIMUM = 890_880n;
const MINT_LAMPORTS = 1_461_600n;
/** US dollars of one SOL, scaled by 10^8. */
const SOL_USD_E8 = "15000000000";

const base58 = (bytes: Uint8Array): string => getBase58Decoder().decode(bytes);

/** A new key with its account. */
export function newSolanaKey(): { key: string; address: Address } {
  const secret = randomBytes(32);
  const publicKey = ed25519.getPublicKey(secret);
  return {
    key: base58(new Uint8Array([...secret, ...publicKey])),
    address: address(base58(publicKey)),
  };
}

/** The account of a key that this sandbox made. */
export const solanaAddress = (key: string): Address =>
  address(base58(ed25519.getPublicKey(secretOf(key))));

const secretOf = (key: string): Uint8Array =>
  new Uint8Array(getBase58Encoder().encode(key)).slice(0, 32);

/** Signs with a key of this sandbox, as a wallet does. */
export const signWith = (key: string, message: Uint8Array): Uint8Array =>
  ed25519.sign(message, secretOf(key));

/** Keys of a world that has none yet. */
export const makeSolanaMemory = (): SolanaMemory => ({
  relayerKeys: [newSolanaKey().key, newSolanaKey().key],
  intermediaryKey: newSolanaKey().key,
  mint: newSolanaKey().address,
  mintAuthority: newSolanaKey().address,
  buyers: BUYERS.map(({ name, holds }) => ({ name, holds, key: newSolanaKey().key })),
});

/** Gives an account native coin. */
export const fundSol = (url: string, account: string, lamports: bigint) =>
  solanaRpc(url, "surfnet_setAccount", [account, { lamports: Number(lamports) }]);

/** Sets what an account holds of a mint; makes its token account when missing. */
export const fundToken = (url: string, owner: string, mint: string, amount: bigint) =>
  solanaRpc(url, "surfnet_setTokenAccount", [owner, mint, { amount: Number(amount) }]);

/** Puts a mint of six decimals at an address. */
export async function makeMint(
  url: string,
  { mint, authority }: { mint: string; authority: string },
): Promise<void> {
  const data = getMintEncoder().encode({
    mintAuthority: some(address(authority)),
    supply: 0n,
    decimals: 6,
    isInitialized: true,
    freezeAuthority: none(),
  });
  await solanaRpc(url, "surfnet_setAccount", [
    mint,
    {
      lamports: Number(MINT_LAMPORTS),
      data: Buffer.from(data).toString("hex"),
      owner: TOKEN_PROGRAM_ADDRESS,
    },
  ]);
}

/** Puts this world's mint and accounts on a chain that has just begun. */
export async function furnishSolana(chain: Surfpool, memory: SolanaMemory): Promise<SolanaWorld> {
  const { rpcUrl, caip2 } = chain;
  const { mint, mintAuthority, relayerKeys, intermediaryKey, buyers } = memory;
  await makeMint(rpcUrl, { mint, authority: mintAuthority });
  for (const key of relayerKeys) await fundSol(rpcUrl, solanaAddress(key), RELAYER_LAMPORTS);
  const intermediary = solanaAddress(intermediaryKey);
  await fundSol(rpcUrl, intermediary, RENT_MINIMUM);
  await fundToken(rpcUrl, intermediary, mint, 0n);
  for (const [index, { key }] of buyers.entries()) {
    const buyer = solanaAddress(key);
    if (BUYERS[index]?.sol) await fundSol(rpcUrl, buyer, BUYER_LAMPORTS);
    if (BUYERS[index]?.usdc) await fundToken(rpcUrl, buyer, mint, BUYER_TOKENS);
  }
  return {
    ...chain,
    memory,
    assets: { usdc: `${caip2}/token:${mint}`, sol: `${caip2}/slip44:501` },
  };
}

/** The registry entry of a sandbox's Solana chain; its dollars cost what `usdcPrice` says. */
export function solanaEntry(
  { caip2, memory }: SolanaWorld,
  slotMs: number,
  usdcPrice: { chain: string; feed: { address: string; heartbeatS: number } },
): SolanaEntry {
  return {
    caip2,
    name: "Florin Sandbox Solana",
    environment: "test",
    native: {
      symbol: "SOL",
      name: "Solana",
      price: { usdPerUnitE8: SOL_USD_E8 },
      accepted: true,
    },
    iconUrl: null,
    explorerUrl: null,
    slotTimeMs: slotMs,
    pollMs: 250,
    depth: [
      { belowUsd: 1_000, depth: { confirmations: 1 } },
      { belowUsd: null, depth: { tag: "finalized" } },
    ],
    microLamportsPerUnit: 10_000,
    memoProgram: "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
    tokens: [
      {
        symbol: "USDC",
        name: "USD Coin",
        mint: memory.mint,
        decimals: 6,
        peg: "USD",
        depegBps: 100,
        price: usdcPrice,
        iconUrl: null,
      },
    ],
  };
}

/** The settings a server needs to work on this chain. */
export function solanaEnv({ caip2, rpcUrl, memory }: SolanaWorld): Record<string, string> {
  const id = caip2.slice("solana:".length);
  return {
    [`FLORIN_RPC_${id}`]: rpcUrl,
    [`FLORIN_RELAYER_KEYS_${id}`]: memory.relayerKeys.join(","),
    FLORIN_INTERMEDIARY_KEY_SOLANA: memory.intermediaryKey,
  };
}
