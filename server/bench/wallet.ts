import type { Hex, TypedDataDefinition } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { ask, walletHeaders } from "./api.ts";
import type { BenchWorld } from "./bench-world.ts";

type Listed = {
  options: {
    id: string;
    amount: { unit: string };
    actions: { type: string; data: { method: string; params: unknown[] } }[];
  }[];
};

/** A signed offer: what is left to do is to hand it in. */
export type Signed = { paymentId: string; optionId: string; signature: Hex };

/** Asks for the USDC offer of a payment and signs it; USDC takes one signature and no transaction of the buyer. */
export async function signUsdc(
  world: BenchWorld,
  baseUrl: string,
  paymentId: string,
): Promise<Signed> {
  const account = privateKeyToAccount(world.buyerKey);
  const { options } = await ask<Listed>(
    baseUrl,
    "POST",
    `/v1/gateway/payment/${paymentId}/options`,
    walletHeaders(world),
    { accounts: [`${world.caip2}:${account.address}`] },
  );
  const option = options.find(({ amount }) => amount.unit === `caip19/${world.usdc}`);
  const action = option?.actions[0];
  if (option === undefined || action?.data.method !== "eth_signTypedData_v4")
    throw new Error(`${paymentId} has no USDC offer with one signature`);
  const typed: TypedDataDefinition & { types: Record<string, unknown> } = JSON.parse(
    String(action.data.params[1]),
  );
  const { EIP712Domain: _, ...types } = typed.types;
  const signature = await account.signTypedData({ ...typed, types } as TypedDataDefinition);
  return { paymentId, optionId: option.id, signature };
}

/** Hands in a signed offer. */
export const confirm = (world: BenchWorld, baseUrl: string, signed: Signed): Promise<unknown> =>
  ask(baseUrl, "POST", `/v1/gateway/payment/${signed.paymentId}/confirm`, walletHeaders(world), {
    optionId: signed.optionId,
    results: [{ type: "walletRpc", data: [signed.signature] }],
  });
