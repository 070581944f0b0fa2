import { expect, test } from "vitest";
import type { Services } from "#server/ports/services.ts";
import { WALLET } from "#server/testing/callers.ts";
import { confirmPayment } from "./confirm-payment.ts";

/** Confirms an option of an account with code by a signature of so many bytes, where everything after the checks of form says that the price has moved. */
function confirm(bytes: number): Promise<void> {
  const data = { chain_id: "eip155:1", method: "eth_signTypedData_v4", params: [] };
  const services = {
    clock: { now: () => 1_800_000_000 },
    screening: { screen: async () => "clear" },
    chains: new Map([
      [
        "eip155:1",
        {
          facts: { chain: "eip155:1", tokens: [{ asset: "another" }] },
          payerFacts: async () => ({ hasCode: true }),
        },
      ],
    ]),
    store: {
      payerReverts: async () => 0,
      payment: async () => ({ id: "pay_1", environment: "test", status: "requires_action" }),
      option: async () => ({
        id: "opt_1",
        paymentId: "pay_1",
        mechanism: "eip3009",
        chain: "eip155:1",
        payer: `0x${"1".repeat(40)}`,
        expiresAt: null,
        authorization: { mechanism: "eip3009" },
        actions: [{ type: "walletRpc", data }],
      }),
    },
  } as unknown as Services;
  const result = { type: "walletRpc" as const, data: [`0x${"ff".repeat(bytes)}`] };
  const input = { optionId: "opt_1", results: [result], collectedData: undefined };
  return confirmPayment(services, WALLET, "pay_1", input);
}

// Guarantee: a signature that no capture could pay to hand over is refused before a chain is asked, and ends nothing.
test("an oversized signature", async () => {
  await expect(confirm(4_097)).rejects.toMatchObject({
    code: "params_validation",
    status: 422,
    issues: [{ path: "results.0", field: "results" }],
  });
  await expect(confirm(4_096)).rejects.toMatchObject({ code: "quote_expired" });
});
