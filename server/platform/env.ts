import { readFileSync } from "node:fs";
import { z } from "zod";
import { LOAD_SETTINGS } from "./load-settings.ts";
import { type ChainEntry, type Registry, registrySchema, type SolanaEntry } from "./registry.ts";
import { SHIPPED_REGISTRY } from "./registry-shipped.ts";
import {
  isEvmKey,
  isHost,
  isListenHost,
  isOrigin,
  isSolanaKey,
  nearestName,
  originAt,
} from "./setting-checks.ts";

const SECRET_MIN = 32;

const evmKey = z
  .string()
  .refine(isEvmKey, "must be 0x and 64 hex digits, more than zero and below the curve's order");
const solanaKey = z
  .string()
  .refine(isSolanaKey, "must be 64 bytes in base58 (secret and its public key)");
const secret = z
  .string()
  .refine(
    (text) => text.replace(/\s/g, "").length >= SECRET_MIN,
    `must have ${SECRET_MIN} or more characters, white space not counted`,
  );
const httpUrl = z.url({
  protocol: /^https?$/,
  error: "must be an http or https URL",
  abort: true,
});
const origin = httpUrl.refine(isOrigin, "must be an origin, such as https://pay.example.com");
const list = (value: string) =>
  value
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** FLORIN_MODE, for commands that need no other setting. */
export const mode = z.enum(["live", "staging", "sandbox"]).default("live");

const settings = z.object({
  /** `live` serves live keys and chains, `sandbox` a local world, `staging` public test networks. */
  FLORIN_MODE: mode,
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  PORT: z.coerce.number().int().min(0).max(65535).default(3000),
  HOST: z
    .string()
    .refine(
      isListenHost,
      "must be a host name or an IP address, without brackets, such as 127.0.0.1 or ::",
    )
    .default("127.0.0.1"),
  /** Public origin of this server; defaults to http://HOST:PORT. */
  FLORIN_BASE_URL: origin.optional(),
  /** Origin of the checkout; defaults to the base URL. */
  FLORIN_CHECKOUT_URL: origin.optional(),
  /** Host (with port, if any) of payment links; defaults to the checkout URL's host. */
  FLORIN_PAY_HOST: z
    .string()
    .refine(isHost, "must be a host with its port, if any, such as pay.example.com")
    .optional(),
  /** `inline` runs the worker in the server process, `off` leaves it to a process of its own. */
  FLORIN_WORKER: z.enum(["inline", "off"]).default("inline"),
  /** Path of a JSON registry that replaces the shipped one. */
  FLORIN_REGISTRY_FILE: z.string().optional(),
  /** Secret that keys the digests of API keys: 32 or more characters. */
  FLORIN_KEY_PEPPER: secret,
  /** Secret that authenticates `build` data and page tokens: 32 or more characters. */
  FLORIN_TOKEN_SECRET: secret,
  /** Secret that seals personal data and webhook secrets in the database: 32 or more characters. Losing it loses them. */
  FLORIN_DATA_SECRET: secret,
  /** Days personal data is kept. */
  FLORIN_DATA_DAYS: z.coerce.number().int().positive().max(3650).default(365),
  /** Terms a buyer agrees to when giving data; without them the page says itself what happens with it. */
  FLORIN_TERMS_URL: z.url({ protocol: /^https$/ }).optional(),
  /** Key of the account that receives buyers' money on EVM chains and settles it. */
  FLORIN_INTERMEDIARY_KEY_EVM: evmKey,
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
  error.issues.map((issue) => {
    const place = issue.path.length === 0 ? prefix : `${prefix}${issue.path.join(".")}: `;
    const isMissing =
      issue.code === "invalid_type" &&
      issue.input === undefined &&
      issue.message.includes("undefined");
    return `${place}${isMissing ? "is missing" : issue.message}`;
  });

type Source = Record<string, string | undefined>;

/** The registry of this server; null, with the reason among the problems: its file is none. */
function readRegistry(file: string | undefined, problems: string[]): Registry | null {
  if (file === undefined) return SHIPPED_REGISTRY;
  try {
    const parsed = registrySchema.safeParse(JSON.parse(readFileSync(file, "utf8")));
    if (parsed.success) return parsed.data;
    problems.push(...issuesOf(parsed.error, "FLORIN_REGISTRY_FILE: "));
  } catch (error) {
    problems.push(`FLORIN_REGISTRY_FILE: cannot be read: ${String(error)}`);
  }
  return null;
}

/** The node addresses and gas keys of a chain; a chain without an address is off. */
function readAccess(
  { caip2, name }: Pick<ChainEntry, "caip2" | "name">,
  key: z.ZodType,
  source: Source,
  problems: string[],
): { id: string; rpcUrls: string[]; relayerKeys: string[] } | null {
  const id = caip2.slice(caip2.indexOf(":") + 1);
  const rpcUrls = list(source[`FLORIN_RPC_${id}`] ?? "");
  if (rpcUrls.length === 0) return null;
  if (!rpcUrls.every((url) => httpUrl.safeParse(url).success))
    problems.push(`FLORIN_RPC_${id}: must be http or https URLs`);
  const relayerKeys = list(source[`FLORIN_RELAYER_KEYS_${id}`] ?? "");
  if (relayerKeys.length === 0) problems.push(`FLORIN_RELAYER_KEYS_${id}: needed for ${name}`);
  for (const one of relayerKeys)
    if (!key.safeParse(one).success) problems.push(`FLORIN_RELAYER_KEYS_${id}: not a key`);
  return { id, rpcUrls, relayerKeys };
}

/** A chain is on when its RPC URL is set; its keys are then required. */
function readChain(entry: ChainEntry, source: Source, problems: string[]): ChainConfig | null {
  const access = readAccess(entry, evmKey, source, problems);
  if (access === null) return null;
  const { id, rpcUrls, relayerKeys } = access;
  const spender = source[`FLORIN_PERMIT2_SPENDER_KEY_${id}`] ?? null;
  if (entry.permit2 !== null && (spender === null || !isEvmKey(spender)))
    problems.push(
      `FLORIN_PERMIT2_SPENDER_KEY_${id}: needed for ${entry.name}, 0x and 64 hex digits`,
    );
  const faucetKey = source[`${FAUCET}${id}`] ?? null;
  if (faucetKey !== null && !isEvmKey(faucetKey)) problems.push(`${FAUCET}${id}: not a key`);
  const permit2SpenderKey = entry.permit2 === null ? null : spender;
  return { entry, rpcUrls, relayerKeys, permit2SpenderKey, faucetKey };
}

/** A cluster is on when its RPC URL is set; its keys are then required. */
function readSolana(entry: SolanaEntry, source: Source, problems: string[]): SolanaConfig | null {
  const access = readAccess(entry, solanaKey, source, problems);
  if (access === null) return null;
  const { rpcUrls, relayerKeys } = access;
  const intermediaryKey = source.FLORIN_INTERMEDIARY_KEY_SOLANA ?? "";
  if (intermediaryKey === "")
    problems.push(`FLORIN_INTERMEDIARY_KEY_SOLANA: needed for ${entry.name}`);
  if (new Set([...relayerKeys, intermediaryKey]).size !== relayerKeys.length + 1)
    problems.push(`${entry.caip2}: relayer and intermediary need different keys`);
  return { entry, rpcUrls, relayerKeys, intermediaryKey };
}

/** Names of the keys that give away a sandbox chain's coin and tokens, by the chain's number. */
const FAUCET = "FLORIN_FAUCET_KEY_";
/** Beginnings of the names that end with a chain's id. */
const PER_CHAIN = ["FLORIN_RPC_", "FLORIN_RELAYER_KEYS_", "FLORIN_PERMIT2_SPENDER_KEY_", FAUCET];
/** What a test run tells its own programs. */
const OF_TESTS = "FLORIN_TEST_";
const SECRETS = ["FLORIN_KEY_PEPPER", "FLORIN_TOKEN_SECRET", "FLORIN_DATA_SECRET"];

/** Settings that would do nothing: slips in a name, and chains that are not there. */
function checkNames(present: Source, registry: Registry, problems: string[]): void {
  const names = Object.keys(settings.shape);
  const ids = new Set(
    [...registry.chains, ...registry.solana].map(({ caip2 }) =>
      caip2.slice(caip2.indexOf(":") + 1),
    ),
  );
  for (const name of Object.keys(present)) {
    if (!name.startsWith("FLORIN_") || name.startsWith(OF_TESTS) || names.includes(name)) continue;
    const prefix = PER_CHAIN.find((one) => name.startsWith(one));
    const id = name.slice(prefix === undefined ? name.lastIndexOf("_") + 1 : prefix.length);
    if (prefix !== undefined && ids.has(id)) continue;
    if (prefix !== undefined) problems.push(`${name}: the registry has no chain ${id}`);
    else {
      const near = nearestName(name, [...names, ...PER_CHAIN.map((one) => `${one}${id}`)]);
      problems.push(`${name}: is no setting${near === null ? "" : `; did you mean ${near}?`}`);
    }
  }
}

/** What each setting alone cannot tell. */
function checkTogether(present: Source, problems: string[]): void {
  const given = SECRETS.map((name) => present[name]).filter((one) => one !== undefined);
  if (new Set(given).size !== given.length)
    problems.push(`${SECRETS.join(", ")}: need three different secrets`);
  const { FLORIN_MIN_PAYMENT_CENTS: min, FLORIN_MAX_PAYMENT_USD: max } = settings.shape;
  const smallest = min.safeParse(present.FLORIN_MIN_PAYMENT_CENTS);
  const largest = max.safeParse(present.FLORIN_MAX_PAYMENT_USD);
  if (smallest.success && largest.success && smallest.data > largest.data * 100)
    problems.push("FLORIN_MIN_PAYMENT_CENTS: is more than FLORIN_MAX_PAYMENT_USD");
}

/** The settings that are set, without white space around them, which nobody means. */
function readPresent(source: Source, problems: string[]): Source {
  const present: Source = {};
  for (const [name, value = ""] of Object.entries(source)) {
    const known = Object.hasOwn(settings.shape, name);
    const text = known ? value.trim() : value;
    if (text !== value) problems.push(`${name}: begins or ends with white space`);
    if (text !== "") present[name] = text;
  }
  return present;
}

/** The mode decides which environment of chains may be on, and no key serves two roles. */
function crossChecks(
  present: Source,
  chains: ChainConfig[],
  solana: SolanaConfig[],
  problems: string[],
): void {
  const chosen = present.FLORIN_MODE ?? "live";
  const wanted = chosen === "live" ? "live" : "test";
  if (chains.length === 0)
    problems.push("FLORIN_RPC_<chain id>: no chain of the registry is configured");
  for (const { entry } of solana)
    if (entry.environment !== wanted)
      problems.push(`${entry.caip2}: a ${entry.environment} chain cannot run in ${chosen} mode`);
  for (const { entry, relayerKeys, permit2SpenderKey } of chains) {
    if (entry.environment !== wanted)
      problems.push(`${entry.caip2}: a ${entry.environment} chain cannot run in ${chosen} mode`);
    const keys = [...relayerKeys, permit2SpenderKey, present.FLORIN_INTERMEDIARY_KEY_EVM]
      .filter((key) => key != null)
      .map((key) => key.toLowerCase());
    if (new Set(keys).size !== keys.length)
      problems.push(
        `${entry.caip2}: relayer, Permit2 spender and intermediary need different keys`,
      );
  }
  if (chosen !== "sandbox")
    for (const name of Object.keys(present).filter((one) => one.startsWith(FAUCET)))
      problems.push(`${name}: a faucet exists in sandbox mode only`);
  if (chosen === "live" && present.FAILPOINT !== undefined)
    problems.push("FAILPOINT: refused in live mode");
}

/** Reads and checks the whole configuration; throws `EnvError` with all problems at once. */
export function readEnv(source: Source): Env {
  const problems: string[] = [];
  const present = readPresent(source, problems);
  const parsed = settings.safeParse(present);
  if (!parsed.success) problems.push(...issuesOf(parsed.error));
  checkTogether(present, problems);
  const registry = readRegistry(present.FLORIN_REGISTRY_FILE, problems);
  if (registry === null) throw new EnvError(problems);
  const chains = registry.chains
    .map((entry) => readChain(entry, present, problems))
    .filter((chain) => chain !== null);
  const solana = registry.solana
    .map((entry) => readSolana(entry, present, problems))
    .filter((chain) => chain !== null);
  checkNames(present, registry, problems);
  crossChecks(present, chains, solana, problems);
  if (!parsed.success || problems.length > 0) throw new EnvError(problems);
  const { FLORIN_BASE_URL, FLORIN_CHECKOUT_URL, FLORIN_PAY_HOST, ...rest } = parsed.data;
  const baseUrl =
    FLORIN_BASE_URL === undefined
      ? originAt(rest.HOST, rest.PORT)
      : new URL(FLORIN_BASE_URL).origin;
  const checkoutUrl =
    FLORIN_CHECKOUT_URL === undefined ? baseUrl : new URL(FLORIN_CHECKOUT_URL).origin;
  const payHost = FLORIN_PAY_HOST ?? new URL(checkoutUrl).host;
  return { ...rest, baseUrl, checkoutUrl, payHost, registry, chains, solana };
}

let cached: Env | undefined;

/** The process's configuration, read on first use. */
export function env(): Env {
  cached ??= readEnv(process.env);
  return cached;
}
