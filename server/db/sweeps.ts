import type { Store } from "#server/ports/store.ts";
import type { Database } from "./client.ts";
import { AWAITS_PUSH, optionForTag } from "./push.ts";
import {
  type CaptureRow,
  type ChainTxRow,
  type CursorRow,
  type HeadsRow,
  type IntentRow,
  type MovementRow,
  type OptionRow,
  PAYMENT_COLUMNS,
  type PaymentRow,
  type SettlementRow,
  toCapture,
  toCursor,
  toHeads,
  toIntent,
  toMovement,
  toOption,
  toPayment,
  toSettlement,
  toStoredTx,
} from "./rows.ts";

const ids = (rows: { id: string }[]): string[] => rows.map(({ id }) => id);

/** How long after its deadline an authorization is still looked for, so that a late one is recognised. */
const WATCH_AFTER_DEADLINE = "interval '1 hour'";

/** How long after a payment was over money is still thought to be meant for it. */
const STRAY_DAYS = 30;

/** Queries that find work left to do; a lost job is found again by them. */
export const sweeps = (
  db: Database,
): Pick<
  Store,
  | "paymentsToExpire"
  | "attemptsToSubmit"
  | "attemptsPastDeadline"
  | "movementsToJudge"
  | "optionForMovement"
  | "likeliestOffer"
  | "hasArrival"
  | "hasTransferOf"
  | "hasMovement"
  | "capturesToFinalize"
  | "orphanedCaptures"
  | "watchedRecipients"
  | "cursor"
  | "blockHashAt"
> => ({
  async paymentsToExpire(limit) {
    return ids(
      await db.query(
        `select id from payment p where status = 'requires_action' and expires_at <= clock_timestamp()
           and not ${AWAITS_PUSH} order by expires_at limit $1`,
        [limit],
      ),
    );
  },
  async attemptsToSubmit(chain, limit) {
    return ids(
      await db.query(
        `select a.payment_id as id from attempt a
         join payment p on p.id = a.payment_id and p.status = 'processing'
         join payment_option o on o.id = a.option_id and o.chain = $1
         where a.state = 'live' and not exists (
           select 1 from chain_intent i where i.attempt_id = a.id and i.kind = 'capture' and i.state not in ('reverted', 'superseded'))
           and not exists (select 1 from movement m where m.payment_id = p.id and m.state = 'seen')
         order by a.created_at limit $2`,
        [chain, limit],
      ),
    );
  },
  async attemptsPastDeadline(chain, limit) {
    return ids(
      await db.query(
        `select p.id from payment p join payment_option o on o.id = p.option_id and o.chain = $1
         join chain_cursor c on c.chain = o.chain
         where p.status = 'processing' and extract(epoch from o.auth_deadline) < c.finalized_time
           and c.scanned_number >= c.finalized_number
         order by o.auth_deadline limit $2`,
        [chain, limit],
      ),
    );
  },
  async movementsToJudge(chain, limit) {
    const rows = await db.query<MovementRow & HeadsRow>(
      // After a reorganisation the heads are those of the fork that is gone until the cursor has caught up.
      `select m.*, least(c.latest_number, c.scanned_number) as latest_number, least(c.safe_number, c.scanned_number) as safe_number,
         least(c.finalized_number, c.scanned_number) as finalized_number
       from movement m join chain_cursor c on c.chain = m.chain
       where m.chain = $1 and m.state = 'seen' order by m.id limit $2`,
      [chain, limit],
    );
    const [first] = rows;
    return first === undefined ? null : { arrivals: rows.map(toMovement), heads: toHeads(first) };
  },
  async optionForMovement(movement) {
    const { chain, payer, authNonce, asset, txHash, amount, recipient } = movement;
    if (movement.tag !== null) {
      const [row] = await optionForTag(db.query, movement);
      return row === undefined ? null : toOption(row);
    }
    const rows =
      authNonce !== null
        ? await db.query<OptionRow>(
            `select o.* from payment_option o join payment p on p.id = o.payment_id
             where o.chain = $1 and o.payer = $2 and o.auth_nonce = $3 and o.asset = $4
             order by (o.amount_minor = $5 and o.recipient = $6) desc, (o.id = p.option_id) desc nulls last,
               o.created_at desc limit 1`,
            [chain, payer, authNonce, asset, amount.toString(), recipient],
          )
        : await db.query<OptionRow>(
            `select o.* from chain_tx t join chain_intent i on i.id = t.intent_id and i.kind = 'capture'
             join attempt a on a.id = i.attempt_id join payment_option o on o.id = a.option_id
             where t.chain = $1 and t.hash = $2 and o.payer = $3 and o.asset = $4`,
            [chain, txHash, payer, asset],
          );
    return rows[0] === undefined ? null : toOption(rows[0]);
  },
  async likeliestOffer({ chain, payer, recipient, asset, amount }) {
    const rows = await db.query<OptionRow>(
      `with offered as (
         select o.*, p.merchant_id, o.asset = $4 and o.amount_minor = $5 as is_exact
         from payment_option o join payment p on p.id = o.payment_id
         where o.chain = $1 and o.payer = $2 and o.recipient = $3
           and p.expires_at > clock_timestamp() - interval '${STRAY_DAYS} days'
       ), likely as (select * from offered where is_exact = (select bool_or(is_exact) from offered))
       select * from likely where (select count(distinct merchant_id) from likely) = 1
       order by asset = $4 desc, created_at desc limit 1`,
      [chain, payer, recipient, asset, amount.toString()],
    );
    if (rows[0] === undefined) return null;
    const option = toOption(rows[0]);
    const payments = await db.query<PaymentRow>(
      `select ${PAYMENT_COLUMNS} from payment where id = $1`,
      [option.paymentId],
    );
    return payments[0] === undefined ? null : { option, payment: toPayment(payments[0]) };
  },
  async hasArrival(chain, payer, nonce) {
    const rows = await db.query(
      `select 1 from movement where chain = $1 and payer = $2 and auth_nonce = $3
           and state in ('seen', 'credited') limit 1`,
      [chain, payer, nonce],
    );
    return rows.length > 0;
  },
  async hasTransferOf(paymentId) {
    const rows = await db.query(
      `select 1 from movement m where m.state in ('seen', 'credited') and (m.payment_id = $1 or exists (
         select 1 from chain_tx t join chain_intent i on i.id = t.intent_id
         where i.payment_id = $1 and i.kind = 'capture' and t.chain = m.chain and t.hash = m.tx_hash))
       union all select 1 from chain_intent i join chain_tx t on t.chain = i.chain and t.hash = i.mined_hash and t.role = 'main'
       where i.payment_id = $1 and i.kind = 'capture' and i.state in ('mined', 'final') and not exists (
         select 1 from movement m where m.chain = i.chain and m.tx_hash = i.mined_hash and m.state <> 'orphaned')
       union all select 1 from chain_intent where payment_id = $1 and kind = 'capture' and state = 'reverted' and gas_cost is null limit 1`,
      [paymentId],
    );
    return rows.length > 0;
  },
  async hasMovement(chain, txHash) {
    const rows = await db.query(
      `select 1 from movement where chain = $1 and tx_hash = $2 and state <> 'orphaned' limit 1`,
      [chain, txHash],
    );
    return rows.length > 0;
  },
  async capturesToFinalize(chain, finalized, limit) {
    const rows = await db.query<CaptureRow>(
      `select c.* from capture c join movement m on m.id = c.movement_id and m.state = 'credited'
       where c.chain = $1 and c.status = 'confirmed' and c.block_number <= $2 order by c.id limit $3`,
      [chain, finalized, limit],
    );
    return rows.map(toCapture);
  },
  async orphanedCaptures(chain, limit) {
    const rows = await db.query<CaptureRow>(
      `select c.* from capture c join movement m on m.id = c.movement_id and m.state = 'orphaned'
       where c.chain = $1 and c.status <> 'orphaned' order by c.id limit $2`,
      [chain, limit],
    );
    return rows.map(toCapture);
  },
  async watchedRecipients(chain) {
    const rows = await db.query<{ recipient: string }>(
      // By the time of the blocks, not of the day: a process that was down for long still reads what was mined meanwhile.
      `select distinct recipient from payment_option
       where chain = $1 and auth_deadline > least(clock_timestamp(), (
         select to_timestamp(b.time) from chain_cursor c
         join chain_block b on b.chain = c.chain and b.number = c.scanned_number where c.chain = $1
       )) - ${WATCH_AFTER_DEADLINE}`,
      [chain],
    );
    return rows.map(({ recipient }) => recipient);
  },
  async cursor(chain) {
    const rows = await db.query<CursorRow>(`select * from chain_cursor where chain = $1`, [chain]);
    return rows[0] === undefined ? null : toCursor(rows[0]);
  },
  async blockHashAt(chain, number) {
    const rows = await db.query<{ number: string; hash: string; parent: string; time: string }>(
      `select number, hash, parent, time from chain_block where chain = $1 and number = $2`,
      [chain, number],
    );
    const row = rows[0];
    return row === undefined
      ? null
      : { number: BigInt(row.number), hash: row.hash, parent: row.parent, time: BigInt(row.time) };
  },
});

/** Queries over intents and settlements. */
export const outgoing = (
  db: Database,
): Pick<
  Store,
  | "settlementsDue"
  | "settlementsOfIntent"
  | "holds"
  | "intent"
  | "openIntents"
  | "openCaptureIntent"
  | "intentTxs"
  | "intentsInFlight"
  | "ensureSigner"
  | "signers"
  | "markGas"
  | "exceptionAge"
  | "ledgerBalance"
> => ({
  async settlementsDue(chain, batchEveryS, limit) {
    const rows = await db.query<SettlementRow & { due: boolean }>(
      `select s.*, (s.schedule = 'instant' or min(s.created_at) over (partition by s.merchant_id, s.asset, s.destination, s.schedule)
         <= clock_timestamp() - make_interval(secs => $2)) as due
       from settlement s where s.state = 'pending' and s.asset like $1 || '/%'
         and not exists (select 1 from settlement_hold h where h.asset in (s.asset, '*'))
         and not exists (select 1 from refund r where r.payment_id = s.payment_id and r.state = 'pending')
       order by s.created_at limit $3`,
      [chain, batchEveryS, limit],
    );
    const groups = new Map<string, SettlementRow[]>();
    for (const row of rows.filter(({ due }) => due)) {
      const key =
        row.schedule === "instant" ? row.id : `${row.merchant_id} ${row.asset} ${row.destination}`;
      groups.set(key, [...(groups.get(key) ?? []), row]);
    }
    return [...groups.values()].map((group) => group.map(toSettlement));
  },
  async settlementsOfIntent(intentId) {
    const rows = await db.query<SettlementRow>(`select * from settlement where intent_id = $1`, [
      intentId,
    ]);
    return rows.map(toSettlement);
  },
  async holds() {
    const rows = await db.query<{ asset: string }>(`select asset from settlement_hold`);
    return rows.map(({ asset }) => asset);
  },
  async intent(id) {
    const rows = await db.query<IntentRow>(`select * from chain_intent where id = $1`, [id]);
    return rows[0] === undefined ? null : toIntent(rows[0]);
  },
  async openIntents(chain, limit) {
    const intents = await db.query<IntentRow>(
      `select * from chain_intent where chain = $1 and (state in ('signed', 'broadcast', 'mined')
         or (state = 'reverted' and kind = 'capture' and gas_cost is null))
       order by signer, nonce limit $2`,
      [chain, limit],
    );
    const txs = await db.query<ChainTxRow>(
      `select * from chain_tx where intent_id = any($1) order by created_at desc`,
      [ids(intents)],
    );
    return intents.map((intent) => ({
      intent: toIntent(intent),
      txs: txs.filter((tx) => tx.intent_id === intent.id).map(toStoredTx),
    }));
  },
  async openCaptureIntent(attemptId) {
    const rows = await db.query<IntentRow>(
      `select * from chain_intent where attempt_id = $1 and kind = 'capture' and state not in ('reverted', 'superseded')`,
      [attemptId],
    );
    return rows[0] === undefined ? null : toIntent(rows[0]);
  },
  async intentTxs(intentId) {
    const rows = await db.query<ChainTxRow>(
      `select * from chain_tx where intent_id = $1 order by created_at desc`,
      [intentId],
    );
    return rows.map(toStoredTx);
  },
  async intentsInFlight(chain, signer) {
    const rows = await db.query<{ n: string }>(
      `select count(*) as n from chain_intent where chain = $1 and signer = $2 and state in ('signed', 'broadcast')`,
      [chain, signer],
    );
    return Number(rows[0]?.n ?? 0);
  },
  async ensureSigner(chain, signer, chainNonce) {
    const rows = await db.query<{ next: string }>(
      `with made as (insert into signer_nonce (chain, signer, base, next) values ($1, $2, $3, $3)
         on conflict do nothing returning next)
       select next from made union all select next from signer_nonce where chain = $1 and signer = $2`,
      [chain, signer, chainNonce],
    );
    return { next: BigInt(rows[0]?.next ?? chainNonce) };
  },
  async signers(chain) {
    const rows = await db.query<{ signer: string; next: string; short: boolean }>(
      `select signer, next, gas_short_since is not null as short from signer_nonce where chain = $1`,
      [chain],
    );
    return rows.map(({ signer, next, short }) => ({ signer, next: BigInt(next), gasShort: short }));
  },
  async markGas(chain, signer, isShort) {
    const rows = await db.query(
      `update signer_nonce set gas_short_since = case when $3 then clock_timestamp() end
       where chain = $1 and signer = $2 and (gas_short_since is not null) <> $3 returning signer`,
      [chain, signer, isShort],
    );
    return rows.length > 0;
  },
  async exceptionAge(kind, chain, txHash) {
    const rows = await db.query<{ age: number }>(
      `select extract(epoch from clock_timestamp() - min(created_at))::float8 as age from exception_record
       where kind = $1 and chain = $2 and tx_ref = $3 having count(*) > 0`,
      [kind, chain, txHash],
    );
    return rows[0]?.age ?? null;
  },
  async ledgerBalance(kind, asset) {
    const rows = await db.query<{ sum: string }>(
      `select coalesce(sum(balance), 0) as sum from ledger_account where kind = $1 and asset = $2`,
      [kind, asset],
    );
    return BigInt(rows[0]?.sum ?? 0);
  },
});
