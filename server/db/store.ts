import type { Store, Tx } from "#server/ports/store.ts";
import { builtReads, builtTx } from "./built.ts";
import { chainTx } from "./chain-tx.ts";
import { checkoutReads } from "./checkout.ts";
import type { Database, Query } from "./client.ts";
import { collectStore, collectTx } from "./collect.ts";
import { createPayment } from "./create-payment.ts";
import { eventQueue } from "./event-queue.ts";
import { eventReads, eventTx } from "./events.ts";
import { explainReads } from "./explain.ts";
import { merchantReads, merchantTx } from "./merchants.ts";
import { moneyTx } from "./money-tx.ts";
import { once } from "./once.ts";
import { paymentListReads } from "./payment-list.ts";
import { paymentReads } from "./payment-reads.ts";
import { paymentTx } from "./payment-tx.ts";
import { pushReads, pushTx } from "./push.ts";
import { refundReads, refundTx } from "./refunds.ts";
import { outgoing, sweeps } from "./sweeps.ts";
import { inTransaction } from "./transaction.ts";

/** Enqueues a job with the statement runner of a transaction. */
export type SendJob = (query: Query, queue: string, data: Record<string, string>) => Promise<void>;

/** The `Store` over PostgreSQL; `sendJob` is the queue's transactional send, `merchant` the lookup requests share. */
export function createStore(db: Database, sendJob: SendJob, merchant: Store["merchant"]): Store {
  const tx = (query: Query): Tx => ({
    ...paymentTx(query),
    ...moneyTx(query),
    ...chainTx(query),
    ...eventTx(query),
    ...collectTx(query),
    ...merchantTx(query),
    ...refundTx(query),
    ...pushTx(query),
    ...builtTx(query),
    sendJob: (queue, data) => sendJob(query, queue, data),
  });
  return {
    transaction: (work) => inTransaction(db.pool, (query) => work(tx(query))),
    once: (claim, work) => once(db, claim, (query) => work(tx(query))),
    createPayment: (payment, claim, answer) => createPayment(db, payment, claim, answer),
    merchant,
    ...paymentReads(db),
    ...sweeps(db),
    ...outgoing(db),
    ...eventQueue(db),
    ...eventReads(db),
    ...collectStore(db),
    ...merchantReads(db),
    ...paymentListReads(db),
    ...refundReads(db),
    ...pushReads(db),
    ...builtReads(db),
    ...explainReads(db),
    ...checkoutReads(db),
  };
}
