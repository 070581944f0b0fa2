import {
  compileTransaction,
  decompileTransactionMessage,
  getBase64EncodedWireTransaction,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Instruction,
} from "@solana/kit";
import { LIGHTHOUSE } from "#server/chains/solana/compare.ts";
import { encodeWire } from "#server/chains/solana/message.ts";
import { rpc as solanaRpc } from "#server/sandbox/node-rpc.ts";
import {
  fundSol,
  fundToken,
  newSolanaKey,
  type SolanaWorld,
  signWith,
} from "#server/sandbox/solana-world.ts";
import { type Answer, actors, call, until } from "./api.ts";
import type { TestServer, TestWorld } from "./world.ts";

/** A buyer of Solana with a key of its own. */
export type SolanaBuyer = { key: string; address: string };

type Listed = {
  id: string;
  amount: { display: { assetSymbol: string } };
  actions: { type: string; data: { data: string } }[];
};

/** The message that a served transaction asks to sign. */
export const messageOf = (transaction: string): Uint8Array =>
  new Uint8Array(
    getTransactionDecoder().decode(new Uint8Array(Buffer.from(transaction, "base64"))).messageBytes,
  );

/** What a wallet returns: the transaction with the buyer's signature in its place. */
export function signTransaction(buyer: SolanaBuyer, transaction: string): string {
  const message = messageOf(transaction);
  return encodeWire(message, new Map([[buyer.address, signWith(buyer.key, message)]]));
}

/** Makes one block at once, while the clock of a chain is stopped. A tick that was under way then still comes, and moves the slot from which to travel. */
export async function makeBlock(rpcUrl: string): Promise<void> {
  const travel = async () => {
    const { absoluteSlot } = await solanaRpc<{ absoluteSlot: number }>(rpcUrl, "getEpochInfo", [
      { commitment: "processed" },
    ]);
    return solanaRpc(rpcUrl, "surfnet_timeTravel", [{ absoluteSlot: absoluteSlot + 1 }]).then(
      () => true,
      (error: Error) => {
        if (!error.message.includes("Cannot travel to past slot")) throw error;
        return false;
      },
    );
  };
  await until(travel, (isMade) => isMade);
}

/** The calls of a wallet that pays on Solana, and reads of the chain. */
export function solanaShop(world: TestWorld, server: () => TestServer) {
  const api = actors(world, () => server().baseUrl);
  const chain = (): SolanaWorld => {
    if (world.world.solana === null) throw new Error("this world has no Solana chain");
    return world.world.solana;
  };
  const rpc = <T>(method: string, params: unknown[] = []) =>
    solanaRpc<T>(chain().rpcUrl, method, params);
  // A chain that was too busy to answer offers nothing at that moment.
  const optionOf = async (id: string, buyer: SolanaBuyer, symbol: "USDC" | "SOL") => {
    const options = await until<Listed[]>(
      async () => (await api.options(id, [`${chain().caip2}:${buyer.address}`])).body.options ?? [],
      (listed) => listed.some(({ amount }) => amount.display.assetSymbol === symbol),
    );
    const option = options.find(({ amount }) => amount.display.assetSymbol === symbol);
    if (option === undefined) throw new Error(`no ${symbol} option`);
    return option;
  };
  /** Does `work` while no block is made but those it asks for: what is to be signed does not lapse, however long it takes. */
  const standing = async <T>(work: () => Promise<T>): Promise<T> => {
    await rpc("surfnet_pauseClock");
    try {
      return await work();
    } finally {
      await rpc("surfnet_resumeClock");
    }
  };
  /** Makes blocks at once, while the clock stands. */
  const step = async (blocks: number): Promise<void> => {
    for (let made = 0; made < blocks; made++) await makeBlock(chain().rpcUrl);
  };
  /** Until a payment's transaction has been sent. */
  const sent = (id: string) =>
    until(
      () =>
        world.db.query(
          `select 1 from chain_intent where payment_id = $1 and kind = 'capture' and broadcast_at is not null`,
          [id],
        ),
      (rows) => rows.length > 0,
    );
  const fetchIt = (
    id: string,
    option: Listed,
    data = option.actions[0]?.data.data,
  ): Promise<Answer> =>
    call(server().baseUrl, "POST", `/v1/gateway/payment/${id}/fetch`, {
      headers: api.gatewayHeaders,
      body: { optionId: option.id, data },
    });
  /** Option and the transaction to sign. */
  const asked = async (id: string, buyer: SolanaBuyer, symbol: "USDC" | "SOL") => {
    const option = await optionOf(id, buyer, symbol);
    const fetched = await fetchIt(id, option);
    const transaction = fetched.body.actions?.[0]?.data?.params?.[0]?.transaction;
    if (typeof transaction !== "string") throw new Error(`nothing to sign: ${fetched.text}`);
    return { option, transaction, fetched };
  };
  /** Everything a wallet does, until our transaction is on its way. */
  const handIn = async (id: string, buyer: SolanaBuyer, symbol: "USDC" | "SOL") => {
    const { option, transaction, fetched } = await asked(id, buyer, symbol);
    const done = await api.confirm(id, option.id, [signTransaction(buyer, transaction)]);
    if (done.status !== 200) throw new Error(done.text);
    await sent(id);
    return { option, fetched, done };
  };
  return {
    ...api,
    chain,
    rpc,
    optionOf,
    fetchIt,
    asked,
    standing,
    step,
    sent,
    async created(options: Parameters<typeof api.create>[0] = {}): Promise<string> {
      const answer = await api.create(options);
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body.paymentId;
    },
    async newBuyer(holds: { usdc?: bigint; lamports?: bigint } = { usdc: 100_000_000n }) {
      const buyer = newSolanaKey();
      const { rpcUrl, memory } = chain();
      if (holds.lamports) await fundSol(rpcUrl, buyer.address, holds.lamports);
      if (holds.usdc) await fundToken(rpcUrl, buyer.address, memory.mint, holds.usdc);
      return buyer as SolanaBuyer;
    },
    handIn,
    /** As `handIn`, and no block is made meanwhile. */
    paySolana: (id: string, buyer: SolanaBuyer, symbol: "USDC" | "SOL") =>
      standing(() => handIn(id, buyer, symbol)),
    final: (id: string, withinMs = 60_000) =>
      until(
        () => api.status(id, 2_000),
        ({ body }) => body.isFinal,
        withinMs,
      ),
    /** Tokens of an owner. */
    async tokens(owner: string): Promise<bigint> {
      const { value } = await rpc<{
        value: { account: { data: { parsed: { info: { tokenAmount: { amount: string } } } } } }[];
      }>("getTokenAccountsByOwner", [
        owner,
        { mint: chain().memory.mint },
        { encoding: "jsonParsed", commitment: "processed" },
      ]);
      return value.reduce(
        (sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount),
        0n,
      );
    },
    async lamports(owner: string): Promise<bigint> {
      const { value } = await rpc<{ value: number }>("getBalance", [
        owner,
        { commitment: "processed" },
      ]);
      return BigInt(value);
    },
    /** Puts a program that accepts everything where wallets expect their guard program. */
    async installGuards(): Promise<void> {
      const memo = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";
      const { value } = await rpc<{ value: { data: [string, string]; owner: string } }>(
        "getAccountInfo",
        [memo, { encoding: "base64" }],
      );
      await rpc("surfnet_setAccount", [
        LIGHTHOUSE,
        {
          lamports: 1_000_000_000,
          data: Buffer.from(value.data[0], "base64").toString("hex"),
          owner: value.owner,
          executable: true,
        },
      ]);
    },
  };
}

/** A transaction with other instructions than it was served with; its accounts are compiled anew, as a wallet does. */
export function rewrite(
  transaction: string,
  change: (instructions: Instruction[]) => Instruction[],
): string {
  const compiled = getCompiledTransactionMessageDecoder().decode(messageOf(transaction));
  const message = decompileTransactionMessage(compiled, { lastValidBlockHeight: 0n });
  const changed = { ...message, instructions: change([...message.instructions]) };
  return getBase64EncodedWireTransaction(
    compileTransaction(changed as Parameters<typeof compileTransaction>[0]),
  );
}
