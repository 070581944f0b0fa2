import { readFileSync } from "node:fs";
import { z } from "zod";
import { LOAD_SETTINGS } from "./load-settings.ts";
import { type ChainEntry, type Registry, registrySchema, type SolanaEntry } from "./registry.ts";
import { SHIPPED_REGISTRY } from "./registry-shipped.ts";

const privateKey = z.string().regex(/^0x[0-9a-fA-F]{64}$/, "must be 0x and 64 hex digits");
/** As wallets and `solana-keygen` know it: secret and public key, 64 bytes in base58. */
const solanaKey = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/, "must be 64 bytes in base58 (secret and public key)");
const list = (value: string) =>
  value
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

const settings = z.object({
  /** `live` serves live keys and chains, `sandbox` a local world, `staging` public test networks. */
  FLORIN_MODE: z.enum(["live", "staging", "sandbox"]).default("live"),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  PORT: z.coerce.number().int().min(0).max(65535).default(3000),
  HOST: z.string().default("127.0.0.1"),
  /** Public origin of this server; defaults to http://HOST:PORT. */
  FLORIN_BASE_URL: z.url().optional(),
  /** Origin of the checkout; defaults to the base URL. */
  FLORIN_CHECKOUT_URL: z.url().optional(),
  /** Host (with port, if any) of payment links; defaults to the checkout URL's host. */
  FLORIN_PAY_HOST: z.string().optional(),
  /** `inline` runs the worker in the server process, `off` leaves it to a process of its own. */
  FLORIN_WORKER: z.enum(["inline", "off"]).default("inline"),
  /** Path of a JSON registry that replaces the shipped one. */
  FLORIN_REGISTRY_FILE: z.string().optional(),
  /** Secret that keys the digests of API keys: 32 or more characters. */
  FLORIN_KEY_PEPPER: z.string().min(32),
  /** Secret that authenticates `build` data and page tokens: 32 or more characters. */
  FLORIN_TOKEN_SECRET: z.string().min(32),
  /** Secret that seals personal data and webhook secrets in the database: 32 or more characters. Losing it loses them. */
  FLORIN_DATA_SECRET: z.string().min(32),
  /** Days personal data is kept. */
  FLORIN_DATA_DAYS: z.coerce.number().int().positive().max(3650).default(365),
  /** Terms a buyer agrees to when giving data; without them the page says itself what happens with it. */
  FLORIN_TERMS_URL: z.url({ protocol: /^https$/ }).optional(),
  /** Key of the account that receives buyers' money on EVM chains and settles it. */
  FLORIN_INTERMEDIARY_KEY_EVM: privateKey,
  /** The same on Solana; needed when a Solana chain is on. */
  FLORIN_INTERMEDIARY_KEY_SOLANA: solanaKey.optional(),
  /** Largest payment in whole USD. */
  FLORIN_MAX_PAYMENT_USD: z.coerce.number().int().positive().default(100_000),
  /** Smallest payment in US cents: what covers fee and gas. */
  FLORIN_MIN_PAYMENT_CENTS: z.coerce.number().int().positive().default(10),
  /** Seconds between two settlements of one merchant and asset on the batched schedule. */
  FLORIN_SETTLEMENT_BATCH_S: z.coerce.number().int().positive().default(3600),
  ...LOAD_SETTINGS,
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
  /** Named crash points for tests; refused in live mode. */
  FAILPOINT: z.string().optional(),
});

/** One configured chain: its registry entry plus what only the environment knows. */
export type ChainConfig = {
  entry: ChainEntry;
  rpcUrls: string[];
  /** Keys that pay gas for EIP-3009 captures. */
  relayerKeys: string[];
  /** Key named as Permit2 spender; null where the chain has no Permit2. */
  permit2SpenderKey: string | null;
  /** Owner of a sandbox chain's tokens, who gives them away; null: nobody does. */
  faucetKey: string | null;
};

/** One configured Solana cluster. */
export type SolanaConfig = {
  entry: SolanaEntry;
  rpcUrls: string[];
  /** Keys that pay the fees of every transaction. */
  relayerKeys: string[];
  intermediaryKey: string;
};

export type Env = Omit<
  z.infer<typeof settings>,
  "FLORIN_BASE_URL" | "FLORIN_CHECKOUT_URL" | "FLORIN_PAY_HOST"
> & {
  baseUrl: string;
  checkoutUrl: string;
  payHost: string;
  registry: Registry;
  chains: ChainConfig[];
  solana: SolanaConfig[];
};

/** Thrown when the environment does not describe a server that may start; `problems` lists every reason at once. */
export class EnvError extends Error {
  readonly problems: string[];
  constructor(problems: string[]) {
    super(`The configuration is not usable:\n${problems.map((p) => `  - ${p}`).join("\n")}`);
    this.problems = problems;
  }
}

const issuesOf = (error: z.ZodError, prefix = ""): string[] =>
  error.issues.map((issue) =>
    issue.code === "invalid_type" &&
    issue.input === undefined &&
    issue.message.includes("undefined")
      ? `${prefix}${issue.path.join(".")}: is missing`
      : `${prefix}${issue.path.join(".")}: ${issue.message}`,
  );

function readRegistry(file: string | undefined, problems: string[]): Registry {
  if (file === undefined) return SHIPPED_REGISTRY;
  try {
    const parsed = registrySchema.safeParse(JSON.parse(readFileSync(file, "utf8")));
    if (parsed.success) return parsed.data;
    problems.push(...issuesOf(parsed.error, "FLORIN_REGISTRY_FILE: "));
  } catch (error) {
    problems.push(`FLORIN_REGISTRY_FILE: cannot be read: ${String(error)}`);
  }
  return SHIPPED_REGISTRY;
}

/** A chain is on when its RPC URL is set; its keys are then required. */
function readChain(
  entry: ChainEntry,
  source: Record<string, string | undefined>,
  problems: string[],
): ChainConfig | null {
  const id = entry.caip2.slice("eip155:".length);
  const rpcUrls = list(source[`FLORIN_RPC_${id}`] ?? "");
  if (rpcUrls.length === 0) return null;
  for (const url of rpcUrls)
    if (!z.url().safeParse(url).success) problems.push(`FLORIN_RPC_${id}: not a URL`);
  const relayerKeys = list(source[`FLORIN_RELAYER_KEYS_${id}`] ?? "");
  if (relayerKeys.length === 0)
    problems.push(`FLORIN_RELAYER_KEYS_${id}: needed for ${entry.name}`);
  for (const key of relayerKeys)
    if (!privateKey.safeParse(key).success) problems.push(`FLORIN_RELAYER_KEYS_${id}: not a key`);
  const spender = source[`FLORIN_PERMIT2_SPENDER_KEY_${id}`] ?? null;
  if (entry.permit2 !== null && (spender === null || !privateKey.safeParse(spender).success))
    problems.push(
      `FLORIN_PERMIT2_SPENDER_KEY_${id}: needed for ${entry.name}, 0x and 64 hex digits`,
    );
  return {
    entry,
    rpcUrls,
    relayerKeys,
    permit2SpenderKey: entry.permit2 === null ? null : spender,
    faucetKey: source[`${FAUCET}${id}`] ?? null,
  };
}

/** A cluster is on when its RPC URL is set; its keys are then required. */
function readSolana(
  entry: SolanaEntry,
  source: Record<string, string | undefined>,
  problems: string[],
): SolanaConfig | null {
  const id = entry.caip2.slice("solana:".length);
  const rpcUrls = list(source[`FLORIN_RPC_${id}`] ?? "");
  if (rpcUrls.length === 0) return null;
  for (const url of rpcUrls)
    if (!z.url().safeParse(url).success) problems.push(`FLORIN_RPC_${id}: not a URL`);
  const relayerKeys = list(source[`FLORIN_RELAYER_KEYS_${id}`] ?? "");
  const intermediaryKey = source.FLORIN_INTERMEDIARY_KEY_SOLANA ?? "";
  if (relayerKeys.length === 0)
    problems.push(`FLORIN_RELAYER_KEYS_${id}: needed for ${entry.name}`);
  for (const key of relayerKeys)
    if (!solanaKey.safeParse(key).success) problems.push(`FLORIN_RELAYER_KEYS_${id}: not a key`);
  if (intermediaryKey === "")
    problems.push(`FLORIN_INTERMEDIARY_KEY_SOLANA: needed for ${entry.name}`);
  if (new Set([...relayerKeys, intermediaryKey]).size !== relayerKeys.length + 1)
    problems.push(`${entry.caip2}: relayer and intermediary need different keys`);
  return { entry, rpcUrls, relayerKeys, intermediaryKey };
}

/** Names of the keys that give away a sandbox chain's coin and tokens, by the chain's number. */
const FAUCET = "FLORIN_FAUCET_KEY_";

/** The mode decides which environment of chains may be on, and no key serves two roles. */
function crossChecks(
  present: Record<string, string | undefined>,
  chains: ChainConfig[],
  problems: string[],
): void {
  const mode = present.FLORIN_MODE ?? "live";
  const wanted = mode === "live" ? "live" : "test";
  if (chains.length === 0)
    problems.push("FLORIN_RPC_<chain id>: no chain of the registry is configured");
  for (const { entry, relayerKeys, permit2SpenderKey } of chains) {
    if (entry.environment !== wanted)
      problems.push(`${entry.caip2}: a ${entry.environment} chain cannot run in ${mode} mode`);
    const keys = [...relayerKeys, permit2SpenderKey, present.FLORIN_INTERMEDIARY_KEY_EVM]
      .filter((key) => key != null)
      .map((key) => key.toLowerCase());
    if (new Set(keys).size !== keys.length)
      problems.push(
        `${entry.caip2}: relayer, Permit2 spender and intermediary need different keys`,
      );
  }
  if (mode !== "sandbox")
    for (const name of Object.keys(present).filter((one) => one.startsWith(FAUCET)))
      problems.push(`${name}: a faucet exists in sandbox mode only`);
  if (mode === "live" && present.FAILPOINT !== undefined)
    problems.push("FAILPOINT: refused in live mode");
}

/** Reads and checks the whole configuration; throws `EnvError` with all problems at once. */
export function readEnv(source: Record<string, string | undefined>): Env {
  const problems: string[] = [];
  const present = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== ""));
  const parsed = settings.safeParse(present);
  if (!parsed.success) problems.push(...issuesOf(parsed.error));
  const registry = readRegistry(present.FLORIN_REGISTRY_FILE, problems);
  const chains = registry.chains
    .map((entry) => readChain(entry, present, problems))
    .filter((chain) => chain !== null);
  const solana = registry.solana
    .map((entry) => readSolana(entry, present, problems))
    .filter((chain) => chain !== null);
  crossChecks(present, chains, problems);
  for (const { entry } of solana)
    if ((entry.environment === "live") !== ((present.FLORIN_MODE ?? "live") === "live"))
      problems.push(`${entry.caip2}: a ${entry.environment} chain cannot run in this mode`);
  if (!parsed.success || problems.length > 0) throw new EnvError(problems);
  const { FLORIN_BASE_URL, FLORIN_CHECKOUT_URL, FLORIN_PAY_HOST, ...rest } = parsed.data;
  const baseUrl = (FLORIN_BASE_URL ?? `http://${rest.HOST}:${rest.PORT}`).replace(/\/+$/, "");
  const checkoutUrl = (FLORIN_CHECKOUT_URL ?? baseUrl).replace(/\/+$/, "");
  const payHost = FLORIN_PAY_HOST ?? new URL(checkoutUrl).host;
  return { ...rest, baseUrl, checkoutUrl, payHost, registry, chains, solana };
}

let cached: Env | undefined;

/** The process's configuration, read on first use. */
export function env(): Env {
  cached ??= readEnv(process.env);
  return cached;
}
