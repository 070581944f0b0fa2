import pg from "pg";
import type { Query } from "#server/db/client.ts";
import { type ChainView, type FoundChain, findChain, type Token } from "./chain-view.ts";
import type { Context } from "./context.ts";
import { type Node, type Settings, Unusable } from "./settings.ts";
import type { SolanaNode } from "./solana-node.ts";
import { type FoundCluster, findCluster } from "./solana-view.ts";

const CONNECT_MS = 10_000;
/** Longest time one statement may take. */
const STATEMENT_MS = 300_000;

const messageOf = (error: unknown): string => {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join("; ");
  const text = error instanceof Error ? error.message : String(error);
  return text.split("\n")[0] ?? "";
};

async function connect(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    application_name: "florin invariants",
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
  } catch (error) {
    throw new Unusable(`The database does not answer: ${messageOf(error)}`);
  }
  return client;
}

type Signers = Map<string, string[]>;

/** The chains that the database knows, each with the accounts whose keys are ours. */
async function readSigners(query: Query): Promise<Signers> {
  const [made] = await query<{ ok: boolean }>(
    `select to_regclass('signer_nonce') is not null and to_regclass('outbox') is not null as ok`,
  );
  if (made?.ok !== true) throw new Unusable("The database holds no Florin: it was never migrated");
  const rows = await query<{ chain: string; signers: string[] }>(
    `select chain, array_remove(array_agg(distinct signer), null) as signers from (
       select chain, signer from signer_nonce union all select chain, null from chain_cursor
       union all select distinct chain, null from payment_option) known group by chain order by chain`,
  );
  return new Map(rows.map(({ chain, signers }) => [chain, signers]));
}

/** Accounts that pool money: what offers in the intermediary flow name, what settlements are signed by, what arrivals reached. */
const INTERMEDIARIES = `
  select distinct o.recipient as account from payment_option o
    join payment p on p.id = o.payment_id and p.flow = 'intermediary' where o.chain = $1
  union select signer from chain_intent where chain = $1 and kind = 'settlement'
  union select m.recipient from movement m
    join signer_nonce s on s.chain = m.chain and s.signer = m.recipient where m.chain = $1`;

const intermediariesOf = async (query: Query, chain: string): Promise<string[]> =>
  (await query<{ account: string }>(INTERMEDIARIES, [chain])).map(({ account }) => account);

/** Everything of value on a chain that the books, settlements or refunds name. */
const NAMED = `
  select asset from ledger_account where kind = 'intermediary' and split_part(asset, '/', 1) = $1
  union select asset from settlement where split_part(asset, '/', 1) = $1
  union select asset from refund where split_part(asset, '/', 1) = $1 order by asset`;

/** The assets that the books name and the registry does not know. */
async function unregistered(query: Query, chain: string, known: string[]): Promise<string[]> {
  const named = await query<{ asset: string }>(NAMED, [chain]);
  return named.map(({ asset }) => asset).filter((asset) => !known.includes(asset));
}

const addressIn = (asset: string): string => asset.slice(asset.lastIndexOf(":") + 1);

/** The cluster's node with everything that the books hold there. */
async function withNamed(query: Query, chain: string, node: SolanaNode): Promise<SolanaNode> {
  const others = await unregistered(
    query,
    chain,
    node.assets.map(({ asset }) => asset),
  );
  const more = others.map((asset) => ({
    asset,
    mint: asset.includes("/slip44:") ? null : addressIn(asset),
  }));
  return { ...node, assets: [...node.assets, ...more] };
}

/** What the books hold on a chain beside what is registered; native coin that is not accepted has no address. */
async function othersOf(query: Query, chain: string, { tokens, native }: Node): Promise<Token[]> {
  const known = [...tokens.map(({ asset }) => asset), ...(native === null ? [] : [native])];
  return (await unregistered(query, chain, known)).map((asset) => ({
    asset,
    address: asset.includes("/erc20:") ? addressIn(asset) : "",
  }));
}

type Sought = { found: FoundChain[]; clusters: FoundCluster[]; unseen: Context["unseen"] };

async function findChains(settings: Settings, query: Query): Promise<Sought> {
  const found: FoundChain[] = [];
  const unseen: Context["unseen"] = [];
  const clusters: FoundCluster[] = [];
  for (const [chain, signers] of await readSigners(query)) {
    const cluster = settings.solana.get(chain);
    if (cluster !== undefined) {
      try {
        clusters.push(
          await findCluster(
            chain,
            await withNamed(query, chain, cluster),
            await intermediariesOf(query, chain),
          ),
        );
      } catch (error) {
        unseen.push({ chain, why: messageOf(error), failed: true });
      }
      continue;
    }
    const node = settings.nodes.get(chain);
    if (node === undefined) {
      const id = chain.slice(chain.indexOf(":") + 1);
      unseen.push({ chain, why: `no node: set FLORIN_RPC_${id}`, failed: false });
      continue;
    }
    try {
      const others = await othersOf(query, chain, node);
      found.push(await findChain(chain, { ...node, others }, signers));
    } catch (error) {
      unseen.push({ chain, why: messageOf(error), failed: true });
    }
  }
  return { found, clusters, unseen };
}

/**
 * The first block whose arrivals the database can know. Headers below the newest ones are dropped in time, so on an old chain
 * this is the block of the oldest arrival or transaction.
 */
const FIRST_BLOCK = `select least(
    (select min(number) + 1 from chain_block where chain = $1),
    (select min(block_number) from movement where chain = $1),
    (select min(mined_block) from chain_intent where chain = $1)) as number`;

/** The last block of a chain that the service calls final; null: it was never read. */
async function readUpTo(query: Query, chain: string): Promise<bigint | null> {
  const [cursor] = await query<{ finalized_number: string }>(
    `select finalized_number from chain_cursor where chain = $1`,
    [chain],
  );
  return cursor === undefined ? null : BigInt(cursor.finalized_number);
}

async function complete(query: Query, one: FoundChain, read: bigint): Promise<ChainView> {
  const { chain, finalized } = one.cursorless;
  const [first] = await query<{ number: string | null }>(FIRST_BLOCK, [chain]);
  const signers = await query<{ signer: string }>(
    `select signer from signer_nonce where chain = $1`,
    [chain],
  );
  const payouts = await query<{ hash: string }>(
    `select t.hash from chain_tx t join chain_intent i on i.id = t.intent_id
     where t.chain = $1 and t.role = 'main' and i.plan ->> 'asset' like $1 || '/slip44:%'`,
    [chain],
  );
  return one.complete(read < finalized.number ? read : finalized.number, {
    from: BigInt(first?.number ?? read),
    intermediaries: await intermediariesOf(query, chain),
    signers: signers.map(({ signer }) => signer),
    coinPayouts: payouts.map(({ hash }) => hash),
  });
}

/**
 * Opens what the checks look at. Chains are looked at first and the database after them, in one snapshot: whatever was final on
 * chain by then was stored before, so a service that goes on working meanwhile raises no alarm.
 */
export async function openContext(
  settings: Settings,
): Promise<{ context: Context; close(): Promise<void> }> {
  const client = await connect(settings.databaseUrl);
  const close = () => client.end();
  const query: Query = async <Row>(text: string, values: unknown[] = []) =>
    (await client.query(text, values)).rows as Row[];
  try {
    const { found, clusters, unseen } = await findChains(settings, query);
    await query("begin transaction isolation level repeatable read, read only");
    const chains: ChainView[] = [];
    const solana: Context["solana"] = [];
    const neverRead = (chain: string) =>
      unseen.push({ chain, why: "it was never read", failed: false });
    for (const one of found) {
      const read = await readUpTo(query, one.cursorless.chain);
      if (read === null) neverRead(one.cursorless.chain);
      else chains.push(await complete(query, one, read));
    }
    for (const one of clusters) {
      const read = await readUpTo(query, one.chain);
      if (read === null) neverRead(one.chain);
      else solana.push(one.complete(read));
    }
    const { decimals, batchS } = settings;
    return { context: { query, chains, solana, unseen, decimals, batchS }, close };
  } catch (error) {
    await close();
    throw error;
  }
}
