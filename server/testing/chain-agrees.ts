import { encodeFunctionData, type Hex, pad, parseAbi, toEventSelector } from "viem";
import { expect } from "vitest";
import { rpc } from "#server/sandbox/deploy.ts";
import { until } from "./api.ts";
import type { TestWorld } from "./world.ts";

const BALANCE = parseAbi(["function balanceOf(address) view returns (uint256)"]);
const TRANSFER = toEventSelector("Transfer(address,address,uint256)");

async function balanceOf(url: string, token: string, account: string): Promise<bigint> {
  const data = encodeFunctionData({ abi: BALANCE, args: [account as Hex] });
  return BigInt(await rpc<string>(url, "eth_call", [{ to: token, data }, "latest"]));
}

async function arrived(url: string, token: string, account: string): Promise<bigint> {
  const logs = await rpc<{ data: string }[]>(url, "eth_getLogs", [
    {
      fromBlock: "0x0",
      toBlock: "latest",
      address: token,
      topics: [TRANSFER, null, pad(account as Hex)],
    },
  ]);
  return logs.reduce((sum, { data }) => sum + BigInt(data), 0n);
}

/** Waits until every payment of `ids` is succeeded and, in the intermediary flow, settled; no payment may end otherwise. */
export async function allDone(world: TestWorld, ids: string[], withinMs: number): Promise<void> {
  await until(
    () =>
      world.db.query<{ status: string; flow: string; settled: boolean }>(
        `select p.status, p.flow, exists(select 1 from settlement s where s.payment_id = p.id and s.state = 'final') as settled
         from payment p where p.id = any($1)`,
        [ids],
      ),
    (rows) => {
      const wrong = rows.find(
        ({ status }) => !["requires_action", "processing", "succeeded"].includes(status),
      );
      if (wrong !== undefined) throw new Error(`a payment ended as ${wrong.status}`);
      return (
        rows.length === ids.length &&
        rows.every((row) => row.status === "succeeded" && (row.flow === "direct" || row.settled))
      );
    },
    withinMs,
  );
}

/** Compares database and chain unit by unit: what every payment took in, what reached each merchant, what is held, and every nonce. */
export async function expectChainAgrees(world: TestWorld, ids: string[]): Promise<void> {
  const counts = await world.db.query<{
    id: string;
    captures: string;
    settlements: string;
    events: string;
  }>(
    `select p.id, p.flow,
       (select count(*) from capture c where c.payment_id = p.id and c.status <> 'orphaned') as captures,
       (select count(*) from settlement s where s.payment_id = p.id and s.state = 'final') as settlements,
       (select count(*) from payment_event e where e.payment_id = p.id and e.to_s = 'succeeded') as events
     from payment p where p.id = any($1) and p.flow = 'intermediary'`,
    [ids],
  );
  for (const row of counts)
    expect(row).toMatchObject({ captures: "1", settlements: "1", events: "1" });
  const direct = await world.db.query<{ captures: string; settlements: string }>(
    `select (select count(*) from capture c where c.payment_id = p.id and c.status <> 'orphaned') as captures,
       (select count(*) from settlement s where s.payment_id = p.id) as settlements
     from payment p where p.id = any($1) and p.flow = 'direct'`,
    [ids],
  );
  for (const row of direct) expect(row).toEqual({ captures: "1", settlements: "0" });
  expect(await world.db.query(`select kind, detail from exception_record`)).toEqual([]);
  const intermediary = (
    await world.db.query<{ signer: string }>(
      `select distinct signer from chain_intent where kind = 'settlement'`,
    )
  )[0]?.signer;
  for (const [index, { anvil, deployment, caip2 }] of world.world.chains.entries()) {
    for (const symbol of ["usdc", "usdt"] as const) {
      const asset = world.asset(symbol, index);
      const token = deployment[symbol];
      for (const merchant of world.demo.merchants) {
        const table = merchant.flow === "direct" ? "capture" : "settlement";
        const [row] = await world.db.query<{ sum: string }>(
          table === "capture"
            ? `select coalesce(sum(c.received), 0) as sum from capture c join payment p on p.id = c.payment_id
               where c.asset = $1 and p.merchant_id = $2 and c.status <> 'orphaned'`
            : `select coalesce(sum(amount), 0) as sum from settlement where asset = $1 and merchant_id = $2 and state = 'final'`,
          [asset, merchant.id],
        );
        expect(await arrived(anvil.rpcUrl, token, merchant.destination)).toBe(
          BigInt(row?.sum ?? 0),
        );
        expect(await balanceOf(anvil.rpcUrl, token, merchant.destination)).toBe(
          BigInt(row?.sum ?? 0),
        );
      }
      const [held] = await world.db.query<{ sum: string }>(
        `select coalesce(sum(balance), 0) as sum from ledger_account where kind = 'intermediary' and asset = $1`,
        [asset],
      );
      if (intermediary !== undefined)
        expect(await balanceOf(anvil.rpcUrl, token, intermediary)).toBe(BigInt(held?.sum ?? 0));
    }
    const signers = await world.db.query<{
      signer: string;
      base: string;
      next: string;
      n: string;
      top: string;
    }>(
      `select s.signer, s.base, s.next, count(i.id) as n, coalesce(max(i.nonce), s.base - 1) as top
       from signer_nonce s left join chain_intent i using (chain, signer) where s.chain = $1 group by 1, 2, 3`,
      [caip2],
    );
    for (const { signer, base, next, n, top } of signers) {
      expect([BigInt(n), BigInt(top)]).toEqual([BigInt(next) - BigInt(base), BigInt(next) - 1n]);
      const mined = await until(
        () => rpc<string>(anvil.rpcUrl, "eth_getTransactionCount", [signer, "latest"]),
        (count) => BigInt(count) >= BigInt(next),
      );
      expect(BigInt(mined)).toBe(BigInt(next));
    }
  }
}
