import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import pg from "pg";
import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import type { Anvil } from "./anvil.ts";
import { compileContracts } from "./compile.ts";
import { type Deployment, deployWorld, fundGas, mint } from "./deploy.ts";
import { lockFile } from "./lock.ts";
import { rpc } from "./node-rpc.ts";
import { databaseUrl, type Postgres, startPostgres } from "./postgres.ts";
import { unfinishedOnSolana } from "./solana-leftovers.ts";
import {
  makeSolanaMemory,
  type SolanaWorld,
  solanaEnv,
  solanaMemorySchema,
} from "./solana-world.ts";
import { type Started, startChains, startSolana } from "./world-chains.ts";
import { worldRegistry } from "./world-registry.ts";

const hex = z.string().startsWith("0x") as unknown as z.ZodType<Hex>;
const BUYERS = [
  { name: "everything", holds: "USDC, USDT and ETH on both chains", usdc: true, usdt: true },
  { name: "usdc", holds: "USDC and ETH on both chains", usdc: true, usdt: false },
  { name: "usdt", holds: "USDT and ETH on both chains", usdc: false, usdt: true },
  { name: "empty", holds: "ETH and no tokens", usdc: false, usdt: false },
] as const;

/** 100,000 whole tokens of six decimals. */
const BUYER_TOKENS = 100_000_000_000n;

const deploymentSchema = z.object({
  chainId: z.int(),
  ownerKey: hex,
  usdc: hex,
  usdt: hex,
  permit2: hex,
  sanctions: hex,
  feeds: z.record(z.string(), hex),
  relayerKeys: z.array(hex),
  spenderKey: hex,
});

/** Everything a world must remember to be the same world at its next start. */
const memorySchema = z.object({
  database: z.string(),
  pepper: z.string(),
  tokenSecret: z.string(),
  dataSecret: z.string(),
  intermediaryKey: hex,
  buyers: z.array(z.object({ name: z.string(), holds: z.string(), key: hex })),
  chains: z.array(deploymentSchema),
  /** Null in worlds without a Solana chain. */
  solana: solanaMemorySchema.nullable().default(null),
  seed: z.record(z.string(), z.unknown()).nullable(),
});

export type WorldMemory = z.infer<typeof memorySchema>;

/** A running local world; `serverEnv` is the configuration a server needs to work in it. */
export type World = {
  dir: string;
  databaseUrl: string;
  registryFile: string;
  serverEnv: Record<string, string>;
  memory: WorldMemory;
  chains: { anvil: Anvil; deployment: Deployment; caip2: string }[];
  /** Null: without a Solana chain. */
  solana: SolanaWorld | null;
  /** True when the chains and the database were made new. */
  fresh: boolean;
  /** Keeps what the demo needs to know of itself. */
  remember(seed: Record<string, unknown>): void;
  stop(): Promise<void>;
};

export type WorldOptions = {
  dir: string;
  /** A PostgreSQL to use instead of our own; its database must be empty or belong to this world. */
  databaseUrl?: string | undefined;
  chainIds?: number[];
  /** With a Solana chain of this pace, where there is one for the platform. */
  solana?: { slotMs: number };
  say?: (line: string) => void;
};

const secret = () => randomBytes(32).toString("hex");

function readMemory(file: string): WorldMemory | null {
  if (!existsSync(file)) return null;
  try {
    return memorySchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    throw new Error(
      `${file} is broken, and with it the keys of this world: delete the folder ${dirname(file)} to begin a new one`,
    );
  }
}

function writePrivate(file: string, value: unknown): void {
  const partial = `${file}.${process.pid}`;
  writeFileSync(partial, JSON.stringify(value, null, 2), { mode: 0o600 });
  renameSync(partial, file);
}

/** Whether this partner, or with null anybody at all, is in a database. */
async function holdsPartner(client: pg.Client, id: string | null): Promise<boolean> {
  const made = await client.query("select to_regclass('public.partner') is not null as ok");
  if (!made.rows[0]?.ok) return false;
  const found = await client.query(
    "select 1 from partner where $1::text is null or id = $1 limit 1",
    [id],
  );
  return found.rowCount !== 0;
}

const messageOf = (error: unknown): string =>
  error instanceof AggregateError ? error.errors.map(messageOf).join("; ") : String(error);

/** Connects to a database of somebody else's; one that is away is named by its setting. */
async function connectGiven(url: string): Promise<pg.Client> {
  try {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return client;
  } catch (error) {
    throw new Error(`DATABASE_URL: the database does not answer: ${messageOf(error)}`);
  }
}

/** Refuses a database that somebody else's world is in. */
async function refuseTaken(url: string): Promise<void> {
  const client = await connectGiven(url);
  try {
    if (await holdsPartner(client, null))
      throw new Error(
        "the database of DATABASE_URL holds another world's data: empty it, or name another one",
      );
  } finally {
    await client.end();
  }
}

/** Why the chains cannot go on with this database: blocks or nonces that the database knows are gone; null: they can. */
async function lostTime(
  url: string,
  chains: { rpcUrl: string; deployment: z.infer<typeof deploymentSchema> }[],
  partnerId: unknown,
) {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
  } catch {
    return "the database is gone";
  }
  try {
    if (typeof partnerId === "string" && !(await holdsPartner(client, partnerId)))
      return "the database is not the one of these chains";
    const unfinished = await unfinishedOnSolana(client);
    if (unfinished !== null) return unfinished;
    for (const { rpcUrl, deployment } of chains) {
      const chain = `eip155:${deployment.chainId}`;
      if ((await rpc<string>(rpcUrl, "eth_getCode", [deployment.usdt, "latest"])) === "0x")
        return `${chain} does not hold this world's contracts`;
      const head = BigInt(await rpc<string>(rpcUrl, "eth_blockNumber"));
      const known = await client.query<{ ok: boolean }>(
        "select to_regclass('public.chain_cursor') is not null as ok",
      );
      if (!known.rows[0]?.ok) continue;
      const cursor = await client.query<{ n: string; hash: string }>(
        "select scanned_number as n, scanned_hash as hash from chain_cursor where chain = $1",
        [chain],
      );
      const scanned = cursor.rows[0];
      if (scanned !== undefined) {
        if (BigInt(scanned.n) > head) return `${chain} lost blocks that the database knows`;
        const block = await rpc<{ hash: string } | null>(rpcUrl, "eth_getBlockByNumber", [
          `0x${BigInt(scanned.n).toString(16)}`,
          false,
        ]);
        if (block?.hash !== scanned.hash)
          return `${chain} is not the chain that the database knows`;
      }
      const mined = await client.query<{ signer: string; n: string }>(
        "select signer, max(nonce) as n from chain_intent where chain = $1 and mined_hash is not null group by signer",
        [chain],
      );
      for (const { signer, n } of mined.rows)
        if (
          BigInt(await rpc<string>(rpcUrl, "eth_getTransactionCount", [signer, "latest"])) <=
          BigInt(n)
        )
          return `${chain} lost transactions that the database knows`;
    }
    return null;
  } finally {
    await client.end();
  }
}

async function makeMemory(anvils: Anvil[]): Promise<WorldMemory> {
  const artifacts = compileContracts();
  const buyers = BUYERS.map(({ name, holds }) => ({ name, holds, key: generatePrivateKey() }));
  const intermediaryKey = generatePrivateKey();
  const chains = await Promise.all(
    anvils.map(async ({ rpcUrl, chainId }) => {
      const relayerKeys = [generatePrivateKey(), generatePrivateKey()];
      const spenderKey = generatePrivateKey();
      const deployment = await deployWorld(rpcUrl, chainId, artifacts, 0);
      for (const key of [...relayerKeys, spenderKey, intermediaryKey, ...buyers.map((b) => b.key)])
        await fundGas(rpcUrl, privateKeyToAccount(key).address);
      for (const [index, buyer] of buyers.entries()) {
        const { address } = privateKeyToAccount(buyer.key);
        if (BUYERS[index]?.usdc) await mint(rpcUrl, deployment, "usdc", address, BUYER_TOKENS);
        if (BUYERS[index]?.usdt) await mint(rpcUrl, deployment, "usdt", address, BUYER_TOKENS);
      }
      await rpc(rpcUrl, "evm_setAutomine", [false]);
      await rpc(rpcUrl, "evm_setIntervalMining", [1]);
      return { ...deployment, relayerKeys, spenderKey };
    }),
  );
  const database = `florin_${randomBytes(6).toString("hex")}`;
  return {
    database,
    pepper: secret(),
    tokenSecret: secret(),
    dataSecret: secret(),
    intermediaryKey,
    buyers,
    chains,
    solana: null,
    seed: null,
  };
}

const CHAIN_NAMES = ["Florin Sandbox A", "Florin Sandbox B"];

function serverEnv(world: {
  memory: WorldMemory;
  url: string;
  registryFile: string;
  anvils: Anvil[];
  solana: SolanaWorld | null;
}) {
  const { memory, url, registryFile, anvils, solana } = world;
  const settings: Record<string, string> = {
    FLORIN_MODE: "sandbox",
    DATABASE_URL: url,
    FLORIN_REGISTRY_FILE: registryFile,
    FLORIN_KEY_PEPPER: memory.pepper,
    FLORIN_TOKEN_SECRET: memory.tokenSecret,
    FLORIN_DATA_SECRET: memory.dataSecret,
    FLORIN_INTERMEDIARY_KEY_EVM: memory.intermediaryKey,
    FLORIN_SETTLEMENT_BATCH_S: "15",
    ...(solana === null ? {} : solanaEnv(solana)),
  };
  for (const [index, { chainId, relayerKeys, spenderKey, ownerKey }] of memory.chains.entries()) {
    settings[`FLORIN_RPC_${chainId}`] = anvils[index]?.rpcUrl ?? "";
    settings[`FLORIN_RELAYER_KEYS_${chainId}`] = relayerKeys.join(",");
    settings[`FLORIN_PERMIT2_SPENDER_KEY_${chainId}`] = spenderKey;
    settings[`FLORIN_FAUCET_KEY_${chainId}`] = ownerKey;
  }
  return settings;
}

async function createDatabaseFor(postgres: Postgres, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const found = await client.query("select 1 from pg_database where datname = $1", [name]);
  if (found.rowCount === 0) await client.query(`create database ${pg.escapeIdentifier(name)}`);
  await client.end();
  return databaseUrl(postgres.url, name);
}

/** Longest wait for a world of the same folder that is just being stopped. */
const STOPPING_MS = 10_000;

/**
 * Starts PostgreSQL and the chains, as they were left, or new when there is nothing to go on with. Chains that lost what the
 * database knows end that world: both begin anew together, and `say` tells why.
 */
export async function startWorld(options: WorldOptions): Promise<World> {
  const dir = resolve(options.dir);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const lock = join(dir, "running");
  const unlock = (await lockFile(lock, 0)) ?? (await lockFile(lock, STOPPING_MS));
  if (unlock === null)
    throw new Error(
      `a sandbox is running in ${dir}: stop it first, or set SANDBOX_DIR (and PORT) for a second one`,
    );
  const started: Started = [];
  try {
    const world = await openWorld(options, dir, started);
    return { ...world, stop: () => world.stop().finally(unlock) };
  } catch (error) {
    await Promise.allSettled(started.map((part) => part.stop()));
    unlock();
    throw error;
  }
}

/** Starts the world's Solana chain where one is asked for; its keys are made at the first time. */
async function openSolana(
  { solana, say = () => undefined }: WorldOptions,
  dir: string,
  memory: WorldMemory,
  started: Started,
): Promise<SolanaWorld | null> {
  if (solana === undefined) return null;
  memory.solana ??= makeSolanaMemory();
  return startSolana(dir, solana.slotMs, memory.solana, { say, started });
}

/** A world that lost something in a database that is not ours to drop cannot begin anew. */
function refuseForeign(lost: string, { databaseUrl: given }: WorldOptions): void {
  if (given !== undefined)
    throw new Error(
      `${lost}: empty the database of DATABASE_URL (Florin does not drop what it did not make), then start again`,
    );
}

async function openWorld(options: WorldOptions, dir: string, started: Started): Promise<World> {
  const chainIds = options.chainIds ?? [31337, 31338];
  const say = options.say ?? (() => undefined);
  const memoryFile = join(dir, "world.json");
  let memory = readMemory(memoryFile);
  if (options.databaseUrl !== undefined) await (await connectGiven(options.databaseUrl)).end();
  const postgres =
    options.databaseUrl === undefined ? await startPostgres({ dir: join(dir, "postgres") }) : null;
  if (postgres !== null) started.push(postgres);
  let anvils = await startChains(dir, chainIds, { say, started });
  const urlOf = async (name: string) =>
    options.databaseUrl ?? (await createDatabaseFor(postgres as Postgres, name));
  if (memory !== null) {
    const chains = memory.chains.map((deployment, index) => ({
      deployment,
      rpcUrl: anvils[index]?.rpcUrl ?? "",
    }));
    const lost = await lostTime(await urlOf(memory.database), chains, memory.seed?.partnerId);
    if (lost !== null) {
      say(`A new world begins: ${lost}.`);
      refuseForeign(lost, options);
      memory = null;
    }
  }
  const fresh = memory === null;
  if (memory === null) {
    if (options.databaseUrl !== undefined) await refuseTaken(options.databaseUrl);
    rmSync(memoryFile, { force: true });
    await Promise.all(anvils.map((anvil) => anvil.stop()));
    for (const id of chainIds)
      rmSync(join(dir, `chain-${id}.json`), { force: true, recursive: true });
    anvils = await startChains(dir, chainIds, { say, started });
    memory = await makeMemory(anvils);
    writePrivate(memoryFile, memory);
  }
  const url = await urlOf(memory.database);
  const registryFile = join(dir, "registry.json");
  const current = memory;
  const solana = await openSolana(options, dir, current, started);
  writePrivate(memoryFile, current);
  const registry = worldRegistry(
    current.chains.map((deployment, index) => ({
      deployment: deployment as Deployment,
      name: CHAIN_NAMES[index] ?? `Florin Sandbox ${index + 1}`,
    })),
    solana === null ? null : { world: solana, slotMs: options.solana?.slotMs ?? 0 },
  );
  writePrivate(registryFile, registry);
  return {
    dir,
    databaseUrl: url,
    registryFile,
    serverEnv: serverEnv({ memory: current, url, registryFile, anvils, solana }),
    memory: current,
    chains: anvils.map((anvil, index) => ({
      anvil,
      deployment: current.chains[index] as unknown as Deployment,
      caip2: `eip155:${anvil.chainId}`,
    })),
    solana,
    fresh,
    remember(seed) {
      current.seed = seed;
      writePrivate(memoryFile, current);
    },
    async stop() {
      await Promise.all([...anvils, ...(solana === null ? [] : [solana])].map((one) => one.stop()));
      await postgres?.stop();
    },
  };
}
