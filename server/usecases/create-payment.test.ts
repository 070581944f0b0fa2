import { expect, test } from "vitest";
import type { Services } from "#server/ports/services.ts";
import type { NewPayment } from "#server/ports/store.ts";
import { MERCHANT } from "#server/testing/callers.ts";
import { type CreatePaymentInput, createPayment } from "./create-payment.ts";

const input: CreatePaymentInput = {
  unit: "iso4217/USD",
  value: "400",
  referenceId: "order 1",
  expiresAt: null,
  metadata: null,
  description: null,
};

/** Creates 4.00 USD for a merchant with a fixed fee of 5.00 USD, where the least is 0.10 USD. */
async function create(flow: "direct" | "intermediary"): Promise<NewPayment> {
  const made: NewPayment[] = [];
  const services = {
    env: {
      FLORIN_MODE: "sandbox",
      FLORIN_MIN_PAYMENT_CENTS: 10,
      FLORIN_MAX_PAYMENT_USD: 100_000,
    },
    clock: { now: () => 1_800_000_000 },
    prices: {
      hasFiat: () => true,
      fiat: async () => ({ usdE8: 100_000_000n, source: "par", updatedAt: 1_800_000_000 }),
    },
    store: {
      merchant: async () => ({
        id: "mer_1",
        environment: "test",
        status: "active",
        flow,
        feeBps: 100,
        feeFixedCents: 500,
        collectWhen: "never",
        collectAboveCents: 0,
        destinations: {},
      }),
      createPayment: async (payment: NewPayment) => {
        made.push(payment);
        return { kind: "created" };
      },
    },
  } as unknown as Services;
  await createPayment(services, MERCHANT, input, null, () => ({ status: 201, body: "" }));
  const [payment] = made;
  if (payment === undefined) throw new Error("nothing was made");
  return payment;
}

// Guarantee: an amount is refused for a fee only where that fee is taken: the direct flow takes none.
test("the least amount covers the fees of its flow", async () => {
  expect(await create("direct")).toMatchObject({ minor: 400n, feeBps: 0, feeFixedMinor: 0n });
  await expect(create("intermediary")).rejects.toMatchObject({
    code: "params_validation",
    message: "Validation error: Amount must be at least 510 to cover fees",
  });
});
