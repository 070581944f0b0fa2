import { EVENT_EXAMPLES } from "./example-events.ts";
import {
  ASSET,
  BUILD_ACTION,
  BUYER_ACCOUNT,
  CREATED_AT,
  DESTINATION,
  DESTINATION_ID,
  EXPIRES_AT,
  MERCHANT,
  OPTION,
  PAID_BY,
  PAYMENT,
  REFERENCE,
  REFUND,
  SETTLED_AT,
  SETTLEMENT_TX_ID,
  SIGN_ACTION,
  SIGN_TRANSACTION,
  SIGNATURE,
  SOLANA_ACCOUNT,
  SOLANA_OPTION,
  solanaUsdc,
  TX_ID,
  usd,
  usdc,
} from "./example-values.ts";

/** One call with its answer: what is in the path, the query and the body, as they are on the wire. */
export type Example = {
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | readonly string[]>>;
  body?: unknown;
  response: unknown;
};

const merchantPayment = {
  paymentId: PAYMENT,
  gatewayUrl: `https://pay.example.com/${PAYMENT}`,
  status: "pending",
  expiresAt: EXPIRES_AT,
  isFinal: false,
  pollInMs: 1000,
};
const succeeded = { status: "succeeded", isFinal: true, pollInMs: null } as const;
const gatewayInfo = {
  status: "requires_action",
  amount: usd("1250"),
  expiresAt: EXPIRES_AT,
  merchant: { name: "Corner Shop", iconUrl: null },
  buyer: null,
};
const payment = { id: PAYMENT };

const cancelled = {
  paymentId: PAYMENT,
  status: "cancelled",
  cancelledAt: CREATED_AT,
  cancelledReason: "cancelled_by_merchant",
};

const merchant = {
  id: MERCHANT,
  name: "Corner Shop",
  email: "owner@shop.example.com",
  status: "active",
  createdAt: CREATED_AT,
  iconUrl: "https://shop.example.com/icon.png",
  flow: "intermediary",
  settlementSchedule: "instant",
  feeBps: 40,
  feeFixedCents: 0,
  collectData: { when: "never", aboveCents: null },
  proveOwnership: false,
} as const;
const destination = { id: DESTINATION_ID, asset: ASSET, destination: DESTINATION };
const paymentList = {
  data: [
    {
      paymentId: PAYMENT,
      merchant: { id: MERCHANT, name: merchant.name, iconUrl: merchant.iconUrl },
      merchantId: MERCHANT,
      referenceId: REFERENCE,
      status: "succeeded",
      isTerminal: true,
      fiatAmount: usd("1250"),
      tokenAmount: usdc("12500000"),
      buyer: { accountCaip10: BUYER_ACCOUNT },
      transaction: { networkId: "8453", hash: TX_ID },
      fees: { total: usdc("50000"), fixed: usdc("0"), percentage: "0.4" },
      settlement: { settled: true, amount: usdc("12450000"), txHash: SETTLEMENT_TX_ID },
      createdAt: CREATED_AT,
      lastUpdatedAt: SETTLED_AT,
      settledAt: SETTLED_AT,
    },
  ],
  nextCursor: null,
  hasMore: false,
  stats: {
    totalRevenue: [{ amount: 12.5, currency: "USD", value: "1250" }],
    totalTransactions: 1,
    totalCustomers: 1,
  },
};

const refund = {
  id: REFUND,
  paymentId: PAYMENT,
  status: "pending",
  kind: "execute",
  amount: usdc("5000000"),
  destination: BUYER_ACCOUNT,
  txId: null,
  reason: "One dish was missing",
  detail: null,
  createdAt: SETTLED_AT,
  transfer: null,
};

/** An example of every operation, by its name; a test holds each against its contract. */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  createMerchantPayment: {
    body: {
      amount: { unit: "iso4217/USD", value: "1250" },
      referenceId: REFERENCE,
      checkout: {
        successUrl: "https://shop.example.com/thanks",
        errorUrl: "https://shop.example.com/try-again",
      },
    },
    response: merchantPayment,
  },
  getMerchantPaymentStatus: {
    path: payment,
    response: { ...succeeded, failureCode: null, info: PAID_BY },
  },
  getPayment: {
    path: payment,
    response: {
      status: "succeeded",
      referenceId: REFERENCE,
      failureCode: null,
      info: PAID_BY,
      settlement: { successful: { txId: SETTLEMENT_TX_ID, amount: usdc("12450000") } },
    },
  },
  createPayment: {
    body: {
      amount: { unit: "iso4217/USD", value: "1250" },
      referenceId: REFERENCE,
      expiresAt: EXPIRES_AT,
      metadata: { table: "12" },
      description: "Dinner for two",
    },
    response: { ...merchantPayment, status: "requires_action" },
  },
  getPaymentStatus: {
    path: payment,
    query: { maxPollMs: "20000" },
    response: { ...succeeded, info: PAID_BY, failureCode: null },
  },
  cancelPayment: { path: payment, response: cancelled },
  cancelGatewayPayment: {
    path: payment,
    response: { ...cancelled, cancelledReason: "cancelled_by_user" },
  },
  getGatewayPayment: { path: payment, response: gatewayInfo },
  getGatewayPaymentStatus: {
    path: payment,
    query: { maxPollMs: "20000" },
    response: { ...succeeded, info: PAID_BY, failureCode: null },
  },
  listPaymentOptions: {
    path: payment,
    query: { includePaymentInfo: "true" },
    body: { accounts: [BUYER_ACCOUNT, SOLANA_ACCOUNT] },
    response: {
      options: [
        {
          id: OPTION,
          account: BUYER_ACCOUNT,
          amount: usdc("12500000"),
          etaS: 5,
          expiresAt: null,
          actions: [SIGN_ACTION],
          collectData: null,
        },
        {
          id: SOLANA_OPTION,
          account: SOLANA_ACCOUNT,
          amount: solanaUsdc("12500000"),
          etaS: 2,
          expiresAt: null,
          actions: [BUILD_ACTION],
          collectData: null,
        },
      ],
      info: gatewayInfo,
      collectData: null,
    },
  },
  fetchPaymentActions: {
    path: payment,
    body: { optionId: SOLANA_OPTION, data: BUILD_ACTION.data.data },
    response: { actions: [SIGN_TRANSACTION] },
  },
  confirmPayment: {
    path: payment,
    query: { maxPollMs: "20000" },
    body: { optionId: OPTION, results: [{ type: "walletRpc", data: [SIGNATURE] }] },
    response: { ...succeeded, info: PAID_BY },
  },
  createRefund: {
    body: { paymentId: PAYMENT, amount: "5000000", kind: "execute", reason: refund.reason },
    response: refund,
  },
  getRefund: {
    path: { refundId: REFUND },
    response: { ...refund, status: "succeeded", txId: SETTLEMENT_TX_ID },
  },
  listRefunds: {
    query: { paymentId: PAYMENT, limit: "20" },
    response: { refunds: [refund], nextCursor: null },
  },
  listPayments: {
    query: { status: ["succeeded"], merchantId: [MERCHANT], limit: "50" },
    response: paymentList,
  },
  listMerchantPayments: {
    query: { startTs: "2026-11-01T00:00:00Z", sortBy: "amount", sortDir: "desc" },
    response: paymentList,
  },
  createMerchant: {
    body: {
      merchantName: merchant.name,
      merchantEmail: merchant.email,
      iconUrl: merchant.iconUrl,
    },
    response: { merchant },
  },
  listMerchants: {
    query: { search: "corner", limit: "20" },
    response: { merchants: [merchant], totalCount: 1, nextCursor: null },
  },
  getMerchant: {
    path: { merchantId: MERCHANT },
    response: { merchant: { ...merchant, settlements: { crypto: [destination], fiat: [] } } },
  },
  updateMerchant: {
    path: { merchantId: MERCHANT },
    body: { settlementSchedule: "batched", collectData: { when: "above", aboveCents: 100_000 } },
    response: {
      merchant: {
        ...merchant,
        settlementSchedule: "batched",
        collectData: { when: "above", aboveCents: 100_000 },
      },
    },
  },
  deleteMerchant: {
    path: { merchantId: MERCHANT },
    response: { id: MERCHANT, deleted: true },
  },
  listSettlementDestinations: {
    path: { merchantId: MERCHANT },
    response: { crypto: [destination], fiat: [] },
  },
  addSettlementDestinations: {
    path: { merchantId: MERCHANT },
    body: { settlements: [{ asset: ASSET, destination: DESTINATION }] },
    response: { settlements: [destination] },
  },
  getSettlementDestination: {
    path: { merchantId: MERCHANT, settlementId: DESTINATION_ID },
    response: destination,
  },
  changeSettlementDestination: {
    path: { merchantId: MERCHANT, settlementId: DESTINATION_ID },
    body: { destination: DESTINATION },
    response: destination,
  },
  removeSettlementDestination: {
    path: { merchantId: MERCHANT, settlementId: DESTINATION_ID },
    response: { id: DESTINATION_ID, deleted: true },
  },
  ...EVENT_EXAMPLES,
};
