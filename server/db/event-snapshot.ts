import {
  type EventStages,
  type EventTerms,
  NO_STAGES,
} from "#server/domain/payment/event-payload.ts";
import type { PaymentStatus } from "#server/domain/payment/state.ts";
import type { NewPayment, Payment } from "#server/ports/store.ts";
import type { Query } from "./client.ts";

type StagesRow = {
  /** Null on a payment nothing has happened to. */
  reached: { to: PaymentStatus; type: string; at: string }[] | null;
  asset: string | null;
  amount_minor: string | null;
  chain: string | null;
  payer: string | null;
  tx_ref: string | null;
  settled_at: Date | null;
  settled_ref: string | null;
  settled_asset: string | null;
  settled_amount: string | null;
};

const iso = (unixSeconds: number): string => new Date(unixSeconds * 1000).toISOString();

const common = (p: NewPayment) => ({
  id: p.id,
  merchantId: p.merchantId,
  live: p.environment === "live",
  referenceId: p.referenceId,
  unit: p.unit,
  minor: p.minor,
  flow: p.flow,
  feeBps: p.feeBps,
  feeFixedMinor: p.feeFixedMinor,
  expiresAt: iso(p.expiresAt),
});

/** The terms of a stored payment as its events tell them. */
export const termsOf = (p: Payment): EventTerms => ({
  ...common({ ...p, description: null, metadata: null }),
  version: p.version,
  status: p.status,
  failureCode: p.failureCode,
  createdAt: iso(p.createdAt),
});

/** As `termsOf`, of a payment that is about to be stored. */
export const newTermsOf = (p: NewPayment, createdAt: number): EventTerms => ({
  ...common(p),
  version: 0,
  status: "requires_action",
  failureCode: null,
  createdAt: iso(createdAt),
});

const isoOf = (text: string): string => new Date(text).toISOString();

/** How far a payment has come, as this transaction sees it. */
export async function stagesOf(query: Query, paymentId: string): Promise<EventStages> {
  const [row] = await query<StagesRow>(
    `select (select jsonb_agg(jsonb_build_object('to', to_s, 'type', type, 'at', at) order by version)
         from payment_event where payment_id = p.id) as reached,
       o.asset, o.amount_minor, o.chain, o.payer, c.tx_ref, s.settled_at, s.tx_ref as settled_ref,
       s.asset as settled_asset, s.amount as settled_amount
     from payment p left join payment_option o on o.id = p.option_id
       left join lateral (select tx_ref from capture where payment_id = p.id
         order by (status = 'orphaned'), ordinal desc limit 1) c on true
       left join settlement s on s.payment_id = p.id and s.state = 'final'
     where p.id = $1`,
    [paymentId],
  );
  if (row === undefined) return NO_STAGES;
  const reached = row.reached ?? [];
  const { asset, amount_minor, chain, payer, settled_at, settled_asset, settled_amount } = row;
  return {
    reached: Object.fromEntries(reached.map(({ to, at }) => [to, isoOf(at)])),
    option:
      asset === null || amount_minor === null || chain === null || payer === null
        ? null
        : { asset, amount: BigInt(amount_minor), chain, payer },
    txId: row.tx_ref,
    cancelledBy: reached.find(({ to }) => to === "cancelled")?.type ?? null,
    settled:
      settled_at === null || settled_asset === null || settled_amount === null
        ? null
        : {
            at: settled_at.toISOString(),
            txId: row.settled_ref,
            asset: settled_asset,
            amount: BigInt(settled_amount),
          },
  };
}
