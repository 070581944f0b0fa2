import { type Hex, keccak256, parseEther } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OfferInput, TxPlan } from "#server/ports/chain.ts";
import { until } from "#server/testing/api.ts";
import { nonceOf, startTestChain, type TestChain } from "#server/testing/chain.ts";

let world: TestChain;

beforeAll(async () => {
  world = await startTestChain(91_021);
});
afterAll(() => world?.stop());

const NATIVE = "eip155:91021/slip44:60";
const payout = (to: string, amount: bigint): TxPlan => ({
  kind: "transfer",
  asset: NATIVE,
  to,
  amount: amount.toString(),
});
const setBalance = (address: string, amount: bigint) =>
  world.node("anvil_setBalance", [address, `0x${amount.toString(16)}`]);

const asked = (payer: string, change: Partial<OfferInput> = {}): OfferInput => ({
  asset: NATIVE,
  payer,
  payerHasCode: false,
  recipient: world.intermediary.address,
  amount: 7n,
  nonce: nonceOf("nonce"),
  tag: nonceOf("tag"),
  proof: null,
  deadline: 4_000_000_000,
  allowance: 0n,
  approveHeadroomBps: 0,
  ...change,
});

// Guarantee: a payout of native coin moves exactly its amount, and its gas comes out of the sender's own balance.
test("a payout", async () => {
  const { chain, intermediary } = world;
  const to = (await world.actor()).address;
  await setBalance(to, 0n);
  const plan = payout(to, 5_000n);
  const simulated = await chain.simulate(plan, intermediary.address);
  if (simulated.kind !== "ok") throw new Error(simulated.detail);
  const nonce = await chain.transactionCount(intermediary.address, "latest");
  const before = await chain.nativeBalance(intermediary.address);
  const tx = { signer: intermediary.address, nonce, gas: simulated.gas, fees: await chain.fees() };
  const { hash, raw } = await chain.sign(plan, tx);
  expect(await chain.broadcast(raw)).toEqual({ kind: "accepted" });
  const receipt = await until(
    () => chain.receipt(hash),
    (found) => found !== null,
  );
  expect(receipt?.status).toBe("success");
  expect(await chain.nativeBalance(to)).toBe(5_000n);
  const left = before - 5_000n - (receipt?.gasCost ?? 0n);
  expect(await chain.nativeBalance(intermediary.address)).toBe(left);
});

// Guarantee: too little money is told apart from too little gas money: the first stops the asset, the second only waits.
test("a payout without the money", async () => {
  const { chain, intermediary } = world;
  const { address } = await world.actor();
  const held = await chain.nativeBalance(intermediary.address);
  const more = await chain.simulate(payout(address, held + 1n), intermediary.address);
  expect(more).toMatchObject({ kind: "revert", reason: "insufficient_balance" });
  await expect(chain.simulate(payout(address, held), intermediary.address)).rejects.toThrow(
    /lacks the gas money/,
  );
});

// Guarantee: what a buyer can pay with is what is left after the gas to send it, and never less than nothing.
test("what an account can spend", async () => {
  const { address } = await world.actor();
  const spend = async () => (await world.chain.payerFacts(address, [NATIVE])).tokens;
  const [rich] = await spend();
  expect(rich?.asset).toBe(NATIVE);
  expect(rich?.balance).toBeLessThan(parseEther("1000"));
  expect(rich?.balance).toBeGreaterThan(parseEther("999"));
  await setBalance(address, 1n);
  expect(await spend()).toEqual([{ asset: NATIVE, balance: 0n, allowance: 0n }]);
});

// Guarantee: only plain accounts are asked for native coin, and for a transfer that carries the tag and nothing else.
test("an offer", async () => {
  const { address } = await world.actor();
  expect(world.chain.offer(asked(address, { payerHasCode: true }))).toBeNull();
  const offer = world.chain.offer(asked(address));
  expect(offer?.digest).toBe(nonceOf("tag"));
  expect(offer?.actions).toEqual([
    {
      type: "walletRpc",
      data: {
        chain_id: "eip155:91021",
        method: "eth_sendTransaction",
        params: [
          { from: address, to: world.intermediary.address, data: nonceOf("tag"), value: "0x7" },
        ],
      },
    },
  ]);
  const proved = world.chain.offer(asked(address, { proof: "Grüße" }));
  expect(proved?.actions.map(({ data }) => data.method)).toEqual([
    "personal_sign",
    "eth_sendTransaction",
  ]);
});

// Guarantee: a transaction is known from the moment a node has it, mined or not, and unknown ones are nothing.
test("a transaction that waits", async () => {
  const buyer = await world.actor();
  const recipient = world.intermediary.address;
  expect(await world.chain.transaction(nonceOf("none"))).toBeNull();
  await world.node("evm_setAutomine", [false]);
  const raw = await privateKeyToAccount(buyer.key).signTransaction({
    type: "eip1559",
    chainId: 91_021,
    nonce: 0,
    to: recipient,
    value: 9n,
    data: nonceOf("tag"),
    gas: 60_000n,
    maxFeePerGas: 100_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
  });
  const hash = await world.node<Hex>("eth_sendRawTransaction", [raw]);
  expect(hash).toBe(keccak256(raw));
  const facts = {
    from: buyer.address,
    to: recipient,
    value: 9n,
    data: nonceOf("tag"),
    nonce: 0n,
  };
  expect(await world.chain.transaction(hash)).toEqual({ ...facts, mined: false });
  await world.node("evm_mine");
  await world.node("evm_setAutomine", [true]);
  expect(await world.chain.transaction(hash)).toEqual({ ...facts, mined: true });
  const { latest } = await world.chain.head();
  expect(await world.chain.inboundTransfers(latest, [recipient])).toEqual([
    {
      asset: NATIVE,
      payer: buyer.address,
      recipient,
      amount: 9n,
      txHash: hash,
      logIndex: -1,
      authNonce: null,
      tag: nonceOf("tag"),
    },
  ]);
  expect(await world.chain.inboundTransfers(latest, [buyer.address])).toEqual([]);
  const closed = world.adapt((entry) => ({
    ...entry,
    native: { ...entry.native, accepted: false },
  }));
  expect(await closed.inboundTransfers(latest, [recipient])).toEqual([]);
  expect(closed.facts.registered.map(({ symbol }) => symbol)).toEqual(["USDC", "USDT"]);
});

// Guarantee: a proof counts for its own account and its own message, however the wallet writes the signature.
test("a signed message", async () => {
  const [owner, other] = [await world.actor(), await world.actor()];
  const signature = await privateKeyToAccount(owner.key).signMessage({ message: "mine" });
  const proves = (account: string, message: string, given: string) =>
    world.chain.provesAccount(account, message, given, false);
  expect(await proves(owner.address, "mine", signature)).toBe(true);
  expect(await proves(other.address, "mine", signature)).toBe(false);
  expect(await proves(owner.address, "yours", signature)).toBe(false);
  expect(await proves(owner.address, "mine", `0x${"00".repeat(65)}`)).toBe(false);
  const asContract = await world.chain.provesAccount(owner.address, "mine", signature, true);
  expect(asContract).toBe(false);
});
