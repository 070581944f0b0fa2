import { keccak256, recoverTransactionAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import type { Authorization } from "#server/domain/option/authorization.ts";
import type { TxPlan } from "#server/ports/chain.ts";
import { callOf, localSigner, policyRefusal, type Role, signPlan } from "./signer.ts";

const TOKEN = "0xdac17f958d2ee523a2206206994597c13d831ec7";
const PAYER = "0x1111111111111111111111111111111111111111";
const RECIPIENT = "0x2222222222222222222222222222222222222222";
const ZERO = "0x0000000000000000000000000000000000000000";
const KEY = `0x${"07".repeat(32)}` as const;
const OWN = privateKeyToAccount(KEY).address.toLowerCase();
const NATIVE = "eip155:1/slip44:60";
const POLICY = { chain: "eip155:1", contracts: new Set([TOKEN]), native: NATIVE };

const authorization = (change: Partial<Authorization> = {}): Authorization => ({
  mechanism: "eip3009",
  chain: "eip155:1",
  token: TOKEN,
  payer: PAYER,
  recipient: RECIPIENT,
  amount: "5",
  nonce: `0x${"ab".repeat(32)}`,
  deadline: 1_800_000_300,
  spender: null,
  domain: { name: "USD Coin", version: "2", chainId: 1, verifyingContract: TOKEN },
  signatures: "bytes",
  ...change,
});
const capture = (change: Partial<Authorization> = {}): TxPlan => ({
  kind: "capture",
  authorization: authorization(change),
  signature: "0x1234",
});
const permit = (spender: string) => capture({ mechanism: "permit2", spender });
const transfer = (change: Partial<TxPlan & { kind: "transfer" }> = {}): TxPlan => ({
  kind: "transfer",
  asset: `eip155:1/erc20:${TOKEN}`,
  to: RECIPIENT,
  amount: "5",
  ...change,
});
const refusal = (plan: TxPlan, role: Role) => policyRefusal(plan, localSigner(KEY, role), POLICY);

const ROLES: Role[] = ["relayer", "spender", "intermediary"];

// Guarantee: each role signs its own kind of transaction and no other; burning a nonce is open to all.
test.for([
  ["an EIP-3009 capture", capture(), "relayer"],
  ["a permit that names this key", permit(OWN), "spender"],
  ["a payout", transfer(), "intermediary"],
  ["a payout of the native coin", transfer({ asset: NATIVE }), "intermediary"],
] as const)("%s", ([, plan, only]) => {
  const allowed = ROLES.filter((role) => refusal(plan, role) === null);
  expect(allowed).toEqual([only]);
  expect(ROLES.map((role) => refusal({ kind: "fill" }, role))).toEqual([null, null, null]);
});

// Guarantee: money never leaves for nobody, for a token contract, for itself, or for another chain's sake.
test.for([
  ["a permit of another spender", permit(RECIPIENT), "spender"],
  ["a capture of another chain", capture({ chain: "eip155:8453" }), "relayer"],
  [
    "a capture under another chain's domain",
    capture({ domain: { name: "x", chainId: 5, verifyingContract: TOKEN } }),
    "relayer",
  ],
  ["a capture of a token we do not know", capture({ token: RECIPIENT }), "relayer"],
  ["a capture to nobody", capture({ recipient: ZERO }), "relayer"],
  ["a capture to the token", capture({ recipient: TOKEN }), "relayer"],
  ["a payout to nobody", transfer({ to: ZERO }), "intermediary"],
  ["a payout to the token", transfer({ to: TOKEN }), "intermediary"],
  [
    "a payout to the token, spelt otherwise",
    transfer({ to: "0xdAC17F958D2ee523a2206206994597C13D831ec7" }),
    "intermediary",
  ],
  ["a payout to itself", transfer({ to: OWN }), "intermediary"],
  ["a payout to no address", transfer({ to: "0x1234" }), "intermediary"],
  ["a payout of nothing", transfer({ amount: "0" }), "intermediary"],
  ["a payout on another chain", transfer({ asset: `eip155:8453/erc20:${TOKEN}` }), "intermediary"],
  [
    "a payout of a strange token",
    transfer({ asset: `eip155:1/erc20:${RECIPIENT}` }),
    "intermediary",
  ],
  ["a payout of a strange coin", transfer({ asset: "eip155:1/slip44:61" }), "intermediary"],
  [
    "a payout of another chain's coin",
    transfer({ asset: "eip155:8453/slip44:60" }),
    "intermediary",
  ],
  ["a payout of the coin to itself", transfer({ asset: NATIVE, to: OWN }), "intermediary"],
  ["a payout of the coin to nobody", transfer({ asset: NATIVE, to: ZERO }), "intermediary"],
  ["a payout of none of the coin", transfer({ asset: NATIVE, amount: "0" }), "intermediary"],
  ["a payout of no asset", transfer({ asset: "nonsense" }), "intermediary"],
] as const)("%s is refused", async ([, plan, role]) => {
  expect(refusal(plan, role)).toEqual(expect.any(String));
  const tx = { nonce: 0n, gas: 100_000n, fees: { maxFee: 2n, maxPriorityFee: 1n } };
  await expect(signPlan(plan, localSigner(KEY, role), POLICY, tx)).rejects.toThrow(/refused/);
});

// Guarantee: only a payout of native coin carries value, and it carries nothing else.
test("value and data of what is sent", () => {
  expect(callOf(transfer({ asset: NATIVE, amount: "7" }), OWN)).toEqual({
    to: RECIPIENT,
    data: "0x",
    value: 7n,
  });
  for (const plan of [transfer(), capture(), { kind: "fill" } as const])
    expect(callOf(plan, OWN).value).toBe(0n);
});

// Guarantee: the stored hash is that of the stored bytes, which are the same whenever they are made.
test("signing is deterministic", async () => {
  const signer = localSigner(KEY, "intermediary");
  const tx = { nonce: 3n, gas: 100_000n, fees: { maxFee: 9n, maxPriorityFee: 1n } };
  const one = await signPlan(transfer(), signer, POLICY, tx);
  expect(await signPlan(transfer(), signer, POLICY, tx)).toEqual(one);
  expect(one.hash).toBe(keccak256(one.raw));
  expect(one.raw[0]).toBe(2);
  const serialized = `0x02${Buffer.from(one.raw.slice(1)).toString("hex")}` as const;
  const from = await recoverTransactionAddress({ serializedTransaction: serialized });
  expect(from.toLowerCase()).toBe(OWN);
  const other = await signPlan(transfer(), signer, POLICY, { ...tx, nonce: 4n });
  expect(other.hash).not.toBe(one.hash);
});
