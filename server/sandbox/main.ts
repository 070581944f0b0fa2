import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { privateKeyToAccount } from "viem/accounts";
import { sandboxDirectory } from "#server/cli/sandbox-file.ts";
import { createDatabase } from "#server/db/client.ts";
import { NODE_FLAGS } from "#server/door/node-flags.ts";
import { environment, migrate } from "./migrate.ts";
import { prepare, ROOT, serverEntry } from "./prepare.ts";
import { endLeftovers, endsWithParent, type Running, startProcess } from "./process.ts";
import { type Demo, demoSchema, seedDemo, seedPartnerKey, seedSolanaDestinations } from "./seed.ts";
import { solanaAddress } from "./solana-world.ts";
import { startWorld, type World } from "./world.ts";
import { nativeAsset } from "./world-registry.ts";

const say = (line: string) => void process.stdout.write(`${line}\n`);

/** Pace of the Solana chain: what a buyer signs lives for 150 slots, and blocks are final after 32. */
const SOLANA_SLOT_MS = 250;
/** Longest the whole stop may take. */
const STOP_WITHIN_MS = 9_500;

async function step<T>(title: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  let isSaid = false;
  const timer = setTimeout(() => {
    isSaid = true;
    say(`${title}…`);
  }, 1_000);
  const result = await work();
  clearTimeout(timer);
  if (isSaid) say(`  done in ${((performance.now() - started) / 1000).toFixed(1)} s`);
  return result;
}

/** Every asset of the world, in the registry's spelling. */
export const assetsOf = (world: World): string[] => [
  ...world.chains.flatMap(({ caip2, deployment }) => [
    ...[deployment.usdc, deployment.usdt].map(
      (address) => `${caip2}/erc20:${address.toLowerCase()}`,
    ),
    nativeAsset(caip2),
  ]),
  ...(world.solana === null ? [] : Object.values(world.solana.assets)),
];

async function demoOf(world: World): Promise<Demo> {
  const known = demoSchema.safeParse(world.memory.seed);
  if (known.success && known.data.partner !== undefined && world.solana === null) return known.data;
  const db = createDatabase(world.databaseUrl, { max: 2 });
  try {
    const { pepper } = world.memory;
    const demo = known.success
      ? {
          ...known.data,
          partner: known.data.partner ?? (await seedPartnerKey(db, { ...known.data, pepper })),
        }
      : await seedDemo(db, { pepper, assets: assetsOf(world) });
    world.remember(demo);
    await seedSolanaDestinations(db, demo.merchants, assetsOf(world));
    return demo;
  } finally {
    await db.close();
  }
}

const SERVER_ENTRY = serverEntry("main");
/** Marks the server of a folder, so that the next start finds one that outlived its starter. */
const markOf = (dir: string) => `--sandbox=${dir}`;

async function startServer(
  world: World,
  port: number,
): Promise<{ server: Running; baseUrl: string }> {
  const node = join(ROOT, "node_modules", ".bin", "node");
  const program = [node, ...NODE_FLAGS, SERVER_ENTRY, markOf(world.dir)];
  const [command = "", ...words] = [...endsWithParent(), ...program];
  const server = await startProcess("the server", command, words, {
    ready: /listening on (http:\/\/[^\s"]+)/i,
    env: {
      ...environment(),
      LOG_LEVEL: environment().LOG_LEVEL || "warn",
      ...world.serverEnv,
      PORT: String(port),
      NODE_ENV: "production",
    },
    cwd: ROOT,
    graceMs: 8_000,
    logFile: join(world.dir, "server.log"),
  });
  return { server, baseUrl: server.ready[1] ?? `http://127.0.0.1:${port}` };
}

/** Why nobody can listen at an address now; null: it is free. */
function whyTaken(host: string, port: number): Promise<string | null> {
  return new Promise((done) => {
    const probe = createServer();
    probe.once("error", (error) => done(error.message));
    probe.listen(port, host, () => probe.close(() => done(null)));
  });
}

async function waitReady(baseUrl: string): Promise<void> {
  const until = Date.now() + 30_000;
  for (;;) {
    const answer = await fetch(`${baseUrl}/readyz`).catch(() => null);
    if (answer?.status === 200) return;
    if (Date.now() > until) throw new Error(`the server is not ready: ${await answer?.text()}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** The Solana chain in the words of `sandbox.json`; none where the platform has none. */
const solanaChains = ({ solana }: World) =>
  solana === null
    ? []
    : [
        {
          caip2: solana.caip2,
          rpcUrl: solana.rpcUrl,
          tokens: [
            {
              symbol: "USDC",
              address: solana.memory.mint,
              decimals: 6,
              mechanism: "spl_transfer",
              caip19: solana.assets.usdc,
            },
            {
              symbol: "SOL",
              address: null,
              decimals: 9,
              mechanism: "native",
              caip19: solana.assets.sol,
            },
          ],
        },
      ];

/** Accounts on it; a private key is 64 bytes in base58, as Solana wallets import it. */
const solanaAccounts = ({ solana }: World) =>
  (solana?.memory.buyers ?? []).map(({ key, holds }) => ({
    caip10: `${solana?.caip2}:${solanaAddress(key)}`,
    privateKey: key,
    holds,
  }));

/** What any program needs to drive this sandbox; written only for the owner of the machine. */
function sandboxJson(world: World, demo: Demo, baseUrl: string) {
  const [first] = demo.merchants;
  const merchants = demo.merchants.map(({ id, apiKey, flow }) => ({ id, apiKey, flow }));
  return {
    baseUrl,
    checkoutUrl: baseUrl,
    merchant: first === undefined ? null : { id: first.id, apiKey: first.apiKey, flow: first.flow },
    merchants,
    gateway: demo.gateway,
    partner: demo.partner,
    chains: [
      ...world.chains.map(({ caip2, anvil, deployment }) => ({
        caip2,
        rpcUrl: anvil.rpcUrl,
        tokens: [
          ...[
            { symbol: "USDC", address: deployment.usdc, decimals: 6, mechanism: "eip3009" },
            { symbol: "USDT", address: deployment.usdt, decimals: 6, mechanism: "permit2" },
          ].map((token) => ({ ...token, caip19: `${caip2}/erc20:${token.address}` })),
          {
            symbol: "ETH",
            address: null,
            decimals: 18,
            mechanism: "native",
            caip19: nativeAsset(caip2),
          },
        ],
      })),
      ...solanaChains(world),
    ],
    accounts: [
      ...world.memory.buyers.flatMap(({ key, holds }) =>
        world.chains.map(({ caip2 }) => ({
          caip10: `${caip2}:${privateKeyToAccount(key).address}`,
          privateKey: key,
          holds,
        })),
      ),
      ...solanaAccounts(world),
    ],
    databaseUrl: world.databaseUrl,
  };
}

/** A word as a shell takes it back. */
const quoted = (word: string): string =>
  /^[\w./:@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

function printNextSteps(dir: string, demo: Demo, baseUrl: string): void {
  const merchant = demo.merchants[0];
  if (merchant === undefined) return;
  const inDir = dir === resolve(ROOT, ".sandbox") ? "" : `SANDBOX_DIR=${quoted(dir)} `;
  say(`
Florin is running at ${baseUrl}

Create a payment of 12.50 USD:

  curl -s ${baseUrl}/v1/merchant/payment -H 'Api-Key: ${merchant.apiKey}' -H 'Merchant-Id: ${merchant.id}' -H 'Content-Type: application/json' -d '{"amount":{"unit":"iso4217/USD","value":"1250"},"referenceId":"order-1"}'

Pay it in the browser: open its gatewayUrl and choose "Sandbox wallet". Or on the command line (put the paymentId in place of pay_…):

  ${inDir}npm run pay -- pay_…

See what became of it, and check every invariant:

  curl -s ${baseUrl}/v1/payments/pay_… -H 'Api-Key: ${merchant.apiKey}' -H 'Merchant-Id: ${merchant.id}'
  ${inDir}npm run invariants

Keys, accounts and addresses are in ${join(dir, "sandbox.json")}. Ctrl-C stops everything.`);
}

async function main(): Promise<void> {
  const dir = resolve(sandboxDirectory());
  const settings = environment();
  const port = Number(settings.PORT || 3000);
  const host = settings.HOST || "127.0.0.1";
  let starting: Promise<World> | null = null;
  let serving: Promise<{ server: Running; baseUrl: string }> | null = null;
  let stopping = false;
  const stop = async (code: number) => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
    // What is still being started is waited for, so that it can be stopped. Failures were already told.
    await serving?.then(({ server }) => server.stop()).catch(() => undefined);
    await starting?.then((world) => world.stop()).catch(() => undefined);
    process.exit(code);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => void stop(0));
  // The starter was killed: nobody could stop this any more.
  process.on("disconnect", () => void stop(1));
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    await prepare({ build: true });
    starting = startWorld({
      dir,
      databaseUrl: settings.DATABASE_URL || undefined,
      solana: { slotMs: SOLANA_SLOT_MS },
      say,
    });
    const opening = starting;
    const world = await step("Starting PostgreSQL and the local chains", () => opening);
    // A server that outlived its starter would still work on the database.
    await endLeftovers("node", [SERVER_ENTRY, markOf(dir)]);
    await step("Preparing the database", () => migrate(world.databaseUrl));
    const demo = await demoOf(world);
    if (stopping) return;
    const write = (baseUrl: string) => {
      const file = join(dir, "sandbox.json");
      const text = `${JSON.stringify(sandboxJson(world, demo, baseUrl), null, 2)}\n`;
      writeFileSync(`${file}.new`, text, { mode: 0o600 });
      renameSync(`${file}.new`, file);
    };
    if (port !== 0) {
      const taken = await whyTaken(host, port);
      if (taken !== null)
        throw new Error(
          `${taken}: the server cannot listen there. Set PORT to another port (SANDBOX_DIR too, for a second sandbox).`,
        );
      // Whoever waits for a ready server finds this start's file.
      write(`http://${host}:${port}`);
    }
    serving = startServer(world, port);
    const coming = serving;
    const started = await step("Starting the server", () => coming);
    await step("Waiting until it is ready", () => waitReady(started.baseUrl));
    write(started.baseUrl);
    printNextSteps(dir, demo, started.baseUrl);
    const code = await started.server.exited;
    if (!stopping)
      say(`The server ended by itself with ${code}; its log is ${join(dir, "server.log")}.`);
    await stop(1);
  } catch (error) {
    // A start that is stopped halfway fails somewhere: that is no news.
    if (!stopping) say(error instanceof Error ? error.message : String(error));
    await stop(1);
  }
}

await main();
