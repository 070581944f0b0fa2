import { readFileSync } from "node:fs";
import { z } from "zod";
import { LOAD_SETTINGS } from "./load-settings.ts";
import { type ChainEntry, type Registry, registrySchema } from "./registry.ts";
import { SHIPPED_REGISTRY } from "./registry-shipped.ts";

const privateKey = z.string().regex(/^0x[0-9a-fA-F]{64}$/, "must be 0x and 64 hex digits");
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
  /** Key of the account that receives buyers' money on EVM chains and settles it. */
  FLORIN_INTERMEDIARY_KEY_EVM: privateKey,
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
  };
}

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
  crossChecks(present, chains, problems);
  if (!parsed.success || problems.length > 0) throw new EnvError(problems);
  const { FLORIN_BASE_URL, FLORIN_CHECKOUT_URL, FLORIN_PAY_HOST, ...rest } = parsed.data;
  const baseUrl = (FLORIN_BASE_URL ?? `http://${rest.HOST}:${rest.PORT}`).replace(/\/+$/, "");
  const checkoutUrl = (FLORIN_CHECKOUT_URL ?? baseUrl).replace(/\/+$/, "");
  const payHost = FLORIN_PAY_HOST ?? new URL(checkoutUrl).host;
  return { ...rest, baseUrl, checkoutUrl, payHost, registry, chains };
}

let cached: Env | undefined;

/** The process's configuration, read on first use. */
export function env(): Env {
  cached ??= readEnv(process.env);
  return cached;
}
