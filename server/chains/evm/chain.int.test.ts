import { encodeFunctionData, type Hex, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OfferInput, TxPlan } from "#server/ports/chain.ts";
import { compileContracts } from "#server/sandbox/compile.ts";
import { asOwner, mint } from "#server/sandbox/deploy.ts";
import {
  type Actor,
  nonceOf,
  signatureOffer,
  signOffer,
  startTestChain,
  type TestChain,
  tokenAt,
} from "#server/testing/chain.ts";

const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const PERMIT2 = "0x000000000022d473030f116ddee9f6b43ac78ba3";
const APPROVE = parseAbi(["function approve(address spender, uint256 value)"]);

let world: TestChain;
let counter = 0;

beforeAll(async () => {
  world = await startTestChain();
});
afterAll(() => world?.stop());

const usdc = () => `eip155:91001/erc20:${world.deployment.usdc.toLowerCase()}`;
const usdt = () => `eip155:91001/erc20:${world.deployment.usdt.toLowerCase()}`;

async function headTime(): Promise<number> {
  const block = await world.node<{ timestamp: Hex }>("eth_getBlockByNumber", ["latest", false]);
  return Number(block.timestamp);
}

async function input(
  payer: string,
  asset: string,
  change: Partial<OfferInput> = {},
): Promise<OfferInput> {
  return {
    asset,
    payer,
    payerHasCode: false,
    recipient: world.intermediary.address,
    amount: 5_000_000n,
    nonce: nonceOf(`payment ${++counter}`),
    tag: nonceOf(`tag ${counter}`),
    proof: null,
    deadline: (await headTime()) + 600,
    allowance: 0n,
    approveHeadroomBps: 0,
    ...change,
  };
}

async function buyer(token: "usdc" | "usdt", amount = 50_000_000n): Promise<Actor> {
  const actor = await world.actor();
  if (amount > 0n) await mint(world.rpcUrl, world.deployment, token, actor.address, amount);
  return actor;
}

async function offered(
  payer: string,
  asset: string,
  change: Partial<OfferInput> = {},
): Promise<ReturnType<typeof signatureOffer>> {
  return signatureOffer(world.chain.offer(await input(payer, asset, change)));
}

const PLAIN = { payerHasCode: false, allowancePending: false };
const CONTRACT = { payerHasCode: true, allowancePending: false };

const flip = (signature: Hex): Hex => {
  const s = (N - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, "0");
  return `${signature.slice(0, 66)}${s}${signature.endsWith("1b") ? "1c" : "1b"}` as Hex;
};

/** Signs, sends and mines a plan with one of our keys. */
async function execute(plan: TxPlan, signer: string): Promise<Hex> {
  const simulated = await world.chain.simulate(plan, signer);
  if (simulated.kind !== "ok") throw new Error(`would revert: ${simulated.detail}`);
  const nonce = await world.chain.transactionCount(signer, "latest");
  const fees = await world.chain.fees();
  const signed = await world.chain.sign(plan, { signer, nonce, gas: simulated.gas, fees });
  expect(await world.chain.broadcast(signed.raw)).toEqual({ kind: "accepted" });
  await expect
    .poll(() => world.chain.receipt(signed.hash), { timeout: 10_000, interval: 25 })
    .toMatchObject({ status: "success", hash: signed.hash });
  return signed.hash as Hex;
}

const balance = async (asset: string, address: string) =>
  world.chain.tokenBalance(asset, address, (await world.chain.head()).latest.number);

// Guarantee: what a wallet signs for an EIP-3009 token is what the contract accepts, in both signature forms.
test.for(["bytes", "vrs"] as const)("a valid EIP-3009 signature as %s", async (signatures) => {
  const payer = await buyer("usdc");
  const chain = world.adapt((entry) => ({
    ...entry,
    tokens: entry.tokens.map((token) =>
      token.eip3009 === null ? token : { ...token, eip3009: { ...token.eip3009, signatures } },
    ),
  }));
  const offer = signatureOffer(chain.offer(await input(payer.address, usdc())));
  expect(offer.authorization.signatures).toBe(signatures);
  const signature = await signOffer(offer, payer.key);
  expect(await chain.checkSignature(offer.authorization, signature, PLAIN)).toEqual({
    kind: "valid",
  });
  const before = await balance(usdc(), world.intermediary.address);
  const plan: TxPlan = { kind: "capture", authorization: offer.authorization, signature };
  expect(await chain.nonceState(offer.authorization, "latest")).toBe("unused");
  await execute(plan, world.relayer.address);
  expect(await balance(usdc(), world.intermediary.address)).toBe(before + 5_000_000n);
  expect(await chain.nonceState(offer.authorization, "latest")).toBe("used");
});

// Guarantee: only the payer's own signature over exactly this offer counts.
test("signatures of others, of other payments and of other chains are refused", async () => {
  const [payer, stranger] = [await buyer("usdc"), await buyer("usdc")];
  const offer = await offered(payer.address, usdc());
  const check = async (signature: Hex) =>
    (await world.chain.checkSignature(offer.authorization, signature, PLAIN)).kind;
  expect(await check(await signOffer(offer, stranger.key))).toBe("invalid");
  const other = await offered(payer.address, usdc());
  expect(await check(await signOffer(other, payer.key))).toBe("invalid");
  const action = offer.actions[0];
  const typed = JSON.parse(String(action?.data.params[1]));
  typed.domain.chainId = 91_002;
  const { EIP712Domain: _, ...types } = typed.types;
  const elsewhere = await privateKeyToAccount(payer.key).signTypedData({ ...typed, types });
  expect(await check(elsewhere)).toBe("invalid");
  typed.domain.chainId = 91_001;
  typed.message.value = "1";
  const cheaper = await privateKeyToAccount(payer.key).signTypedData({ ...typed, types });
  expect(await check(cheaper)).toBe("invalid");
  expect(await check(`0x${"00".repeat(65)}`)).toBe("invalid");
  expect(await check(await signOffer(offer, payer.key))).toBe("valid");
});

// Guarantee: a malleated signature, which libraries take for valid and contracts refuse, never enters.
test("a signature with a high s is refused", async () => {
  const payer = await buyer("usdc");
  const offer = await offered(payer.address, usdc());
  const high = flip(await signOffer(offer, payer.key));
  expect((await world.chain.checkSignature(offer.authorization, high, PLAIN)).kind).toBe("invalid");
  const onChain = await world.chain.simulate(
    { kind: "capture", authorization: offer.authorization, signature: high },
    world.relayer.address,
  );
  expect(onChain).toMatchObject({ kind: "revert", reason: "bad_signature" });
  // Permit2 itself would take it.
  const holder = await buyer("usdt");
  const own = await offered(holder.address, usdt());
  const malleated = flip(await signOffer(own, holder.key));
  const pending = { payerHasCode: false, allowancePending: true };
  expect((await world.chain.checkSignature(own.authorization, malleated, pending)).kind).toBe(
    "invalid",
  );
});

// Guarantee: what was checked is what will be sent: v of 0 or 1 is valid exactly where the contract takes it.
test("v of 0 or 1", async () => {
  const payer = await buyer("usdc");
  const offer = await offered(payer.address, usdc());
  const signature = await signOffer(offer, payer.key);
  const bare = `${signature.slice(0, -2)}${signature.endsWith("1b") ? "00" : "01"}`;
  const asBytes = await world.chain.checkSignature(offer.authorization, bare, PLAIN);
  expect(asBytes.kind).toBe("invalid");
  const asVrs = { ...offer.authorization, signatures: "vrs" as const };
  expect((await world.chain.checkSignature(asVrs, bare, PLAIN)).kind).toBe("valid");
});

// Guarantee: a contract wallet pays by its own verdict (ERC-1271), and by nothing else.
test("ERC-1271 wallets", async () => {
  const [owner, stranger] = [await world.actor(), await world.actor()];
  const wallet = await world.deploy(compileContracts().SandboxWallet, [owner.address]);
  await mint(world.rpcUrl, world.deployment, "usdc", wallet, 50_000_000n);
  const facts = await world.chain.payerFacts(wallet, [usdc()]);
  expect(facts).toEqual({
    hasCode: true,
    tokens: [{ asset: usdc(), balance: 50_000_000n, allowance: 0n }],
  });
  const offer = await offered(wallet, usdc(), { payerHasCode: true });
  expect(offer.authorization.mechanism).toBe("eip3009");
  const good = await signOffer(offer, owner.key);
  const check = (signature: string) =>
    world.chain.checkSignature(offer.authorization, signature, CONTRACT);
  expect(await check(good)).toEqual({ kind: "valid" });
  expect((await check(await signOffer(offer, stranger.key))).kind).toBe("invalid");
  expect((await check("0x1234")).kind).toBe("invalid");
  const wrapped = `0x${"00".repeat(96)}${"6492".repeat(16)}`;
  expect(await check(wrapped)).toEqual({
    kind: "invalid",
    reason: "the account is not deployed",
  });
  await execute(
    { kind: "capture", authorization: offer.authorization, signature: good },
    world.relayer.address,
  );
});

// Guarantee: a contract wallet is never asked for EIP-3009 by a token that only takes plain accounts' signatures.
test("a contract wallet gets Permit2 where the token takes v, r and s only", async () => {
  const chain = world.adapt((entry) => ({
    ...entry,
    tokens: entry.tokens.map((token) =>
      token.eip3009 === null
        ? token
        : { ...token, eip3009: { ...token.eip3009, signatures: "vrs" as const } },
    ),
  }));
  const asked = await input(world.relayer.address, usdc(), { payerHasCode: true });
  expect(chain.offer(asked)?.authorization.mechanism).toBe("permit2");
});

// Guarantee: an account delegated to code without ERC-1271 is found out before anything is promised.
test("an EIP-7702 account whose delegate has no ERC-1271", async () => {
  const payer = await buyer("usdc");
  const delegate = await world.odd("PlainDelegate").deploy();
  await world.node("anvil_setCode", [payer.address, `0xef0100${delegate.slice(2)}`]);
  expect((await world.chain.payerFacts(payer.address, [])).hasCode).toBe(true);
  const offer = await offered(payer.address, usdc(), { payerHasCode: true });
  const signature = await signOffer(offer, payer.key);
  const check = await world.chain.checkSignature(offer.authorization, signature, CONTRACT);
  expect(check.kind).not.toBe("valid");
  // Delegated between the offer and the confirm: the key still signs, the token still refuses.
  const stale = await world.chain.checkSignature(offer.authorization, signature, PLAIN);
  expect(stale.kind).not.toBe("valid");
});

// Guarantee: a Permit2 payment works from the approval to the money, also for a token that must be reset to zero first.
test("Permit2 with and without a pending approval", async () => {
  const payer = await buyer("usdt");
  const short = encodeFunctionData({ abi: APPROVE, args: [PERMIT2, 7n] });
  await world.send(payer, { to: world.deployment.usdt, data: short });
  const facts = await world.chain.payerFacts(payer.address, [usdt()]);
  expect(facts.tokens[0]?.allowance).toBe(7n);
  const offer = await offered(payer.address, usdt(), { allowance: 7n, approveHeadroomBps: 200 });
  expect(offer.actions.map(({ data }) => data.method)).toEqual([
    "eth_sendTransaction",
    "eth_sendTransaction",
    "eth_signTypedData_v4",
  ]);
  const signature = await signOffer(offer, payer.key);
  const check = (pending: boolean, with_ = signature) =>
    world.chain.checkSignature(offer.authorization, with_, {
      payerHasCode: false,
      allowancePending: pending,
    });
  expect(await check(true)).toEqual({ kind: "valid" });
  expect(await check(false)).toMatchObject({
    kind: "would_revert",
    reason: "insufficient_allowance",
  });
  const other = await signOffer(await offered(payer.address, usdt()), payer.key);
  expect((await check(true, other)).kind).toBe("invalid");
  for (const { data } of offer.actions.slice(0, 2)) {
    const [tx] = data.params as [{ from: Hex; to: Hex; data: Hex; value: Hex }];
    expect(tx).toMatchObject({ from: payer.address, value: "0x0" });
    await world.send(payer, { to: tx.to, data: tx.data, value: BigInt(tx.value) });
  }
  const [now] = (await world.chain.payerFacts(payer.address, [usdt()])).tokens;
  expect(now?.allowance).toBe(5_100_000n);
  expect(await check(false)).toEqual({ kind: "valid" });
  const plan: TxPlan = { kind: "capture", authorization: offer.authorization, signature };
  await execute(plan, world.spender.address);
  expect(await world.chain.nonceState(offer.authorization, "latest")).toBe("used");
  expect(await world.chain.simulate(plan, world.spender.address)).toMatchObject({
    kind: "revert",
    reason: "nonce_used",
  });
});

// Guarantee: a contract wallet pays with Permit2 too, by its own verdict.
test("Permit2 from an ERC-1271 wallet", async () => {
  const [owner, stranger] = [await world.actor(), await world.actor()];
  const wallet = await world.deploy(compileContracts().SandboxWallet, [owner.address]);
  await mint(world.rpcUrl, world.deployment, "usdt", wallet, 50_000_000n);
  const offer = await offered(wallet, usdt(), { payerHasCode: true });
  const options = { payerHasCode: true, allowancePending: true };
  const check = async (key: Hex) =>
    world.chain.checkSignature(offer.authorization, await signOffer(offer, key), options);
  expect(await check(owner.key)).toEqual({ kind: "valid" });
  expect((await check(stranger.key)).kind).toBe("invalid");
});

// Guarantee: every reason for which money would not move has its name before a transaction is paid for.
test("reasons: used nonce, balance, deny list, deadline", async () => {
  const payer = await buyer("usdc", 5_000_000n);
  const first = await offered(payer.address, usdc());
  const second = await offered(payer.address, usdc());
  const [one, two] = [await signOffer(first, payer.key), await signOffer(second, payer.key)];
  const late = await offered(payer.address, usdc(), { deadline: (await headTime()) + 2 });
  const lateSignature = await signOffer(late, payer.key);
  await execute(
    { kind: "capture", authorization: first.authorization, signature: one },
    world.relayer.address,
  );
  const check = (offer: ReturnType<typeof signatureOffer>, signature: Hex) =>
    world.chain.checkSignature(offer.authorization, signature, PLAIN);
  expect(await check(first, one)).toMatchObject({ reason: "nonce_used" });
  expect(await check(second, two)).toMatchObject({ reason: "insufficient_balance" });
  await mint(world.rpcUrl, world.deployment, "usdc", payer.address, 50_000_000n);
  expect(await check(second, two)).toEqual({ kind: "valid" });
  const deny = "function setBlacklisted(address account, bool listed)";
  const set = (listed: boolean) =>
    asOwner(world.rpcUrl, world.deployment, world.deployment.usdc, deny, [payer.address, listed]);
  await set(true);
  expect(await check(second, two)).toMatchObject({ kind: "would_revert", reason: "denied" });
  await set(false);
  await world.node("evm_increaseTime", [5]);
  await world.node("evm_mine");
  expect(await check(late, lateSignature)).toMatchObject({
    kind: "would_revert",
    reason: "expired",
  });
});

// Guarantee: Permit2 hides the token's reason, we do not: balance and deny list keep their names behind it.
test("reasons behind Permit2", async () => {
  const payer = await buyer("usdt", 5_000_000n);
  const offer = await offered(payer.address, usdt());
  const signature = await signOffer(offer, payer.key);
  const check = () =>
    world.chain.checkSignature(offer.authorization, signature, {
      payerHasCode: false,
      allowancePending: true,
    });
  const deny = "function setBlackListed(address account, bool listed)";
  await asOwner(world.rpcUrl, world.deployment, world.deployment.usdt, deny, [payer.address, true]);
  expect(await check()).toMatchObject({ kind: "would_revert", reason: "denied" });
  await asOwner(world.rpcUrl, world.deployment, world.deployment.usdt, deny, [
    payer.address,
    false,
  ]);
  const poorer = await offered(payer.address, usdt(), { amount: 5_000_001n });
  const more = await signOffer(poorer, payer.key);
  const checked = await world.chain.checkSignature(poorer.authorization, more, {
    payerHasCode: false,
    allowancePending: true,
  });
  expect(checked).toMatchObject({ kind: "would_revert", reason: "insufficient_balance" });
});

// Guarantee: where a token's storage is not understood, a pending approval is judged by signature and balance, also for contracts.
test("a token whose allowance storage nobody finds", async () => {
  const [payer, stranger] = [await world.actor(), await world.actor()];
  const hidden = world.odd("HiddenToken");
  const token = await hidden.deploy();
  const minted = parseAbi(["function mint(address to, uint256 value)"]);
  const wallet = await world.deploy(compileContracts().SandboxWallet, [payer.address]);
  for (const to of [payer.address, wallet])
    await world.send(payer, {
      to: token,
      data: encodeFunctionData({ abi: minted, args: [to, 5_000_000n] }),
    });
  const chain = world.adapt((entry) => ({ ...entry, tokens: [tokenAt(token)] }));
  const check = async (from: Hex, signer: Actor, amount: bigint, payerHasCode: boolean) => {
    const asset = `eip155:91001/erc20:${token}`;
    const offer = signatureOffer(chain.offer(await input(from, asset, { amount, payerHasCode })));
    const signature = await signOffer(offer, signer.key);
    const options = { payerHasCode, allowancePending: true };
    return chain.checkSignature(offer.authorization, signature, options);
  };
  expect(await check(payer.address, payer, 5_000_000n, false)).toEqual({ kind: "valid" });
  expect(await check(payer.address, payer, 5_000_001n, false)).toMatchObject({
    reason: "insufficient_balance",
  });
  expect((await check(payer.address, stranger, 5_000_000n, false)).kind).toBe("invalid");
  expect(await check(wallet, payer, 5_000_000n, true)).toEqual({ kind: "valid" });
  expect((await check(wallet, stranger, 5_000_000n, true)).kind).toBe("invalid");
});

// Guarantee: a settlement that moves nothing although it does not revert is seen before it is sent.
test("a token that answers false", async () => {
  const token = await world.odd("FalseToken").deploy();
  const chain = world.adapt((entry) => ({ ...entry, tokens: [tokenAt(token)] }));
  const plan: TxPlan = {
    kind: "transfer",
    asset: `eip155:91001/erc20:${token}`,
    to: world.relayer.address,
    amount: "5",
  };
  expect(await chain.simulate(plan, world.intermediary.address)).toMatchObject({
    kind: "revert",
    reason: "other",
  });
});

// Guarantee: a settlement is simulated from the account that pays it, and a missing balance has its name.
test("settlement transfers", async () => {
  const merchant = await world.actor();
  await mint(world.rpcUrl, world.deployment, "usdt", world.intermediary.address, 1_000n);
  const held = await balance(usdt(), world.intermediary.address);
  const plan = (amount: bigint): TxPlan => ({
    kind: "transfer",
    asset: usdt(),
    to: merchant.address,
    amount: amount.toString(),
  });
  expect(await world.chain.simulate(plan(held + 1n), world.intermediary.address)).toMatchObject({
    reason: "insufficient_balance",
  });
  await execute(plan(held), world.intermediary.address);
  expect(await balance(usdt(), merchant.address)).toBe(held);
});

// Guarantee: a key signs what its role allows and nothing else, however the plan reached it.
test("the adapter refuses to sign and to simulate outside a key's role", async () => {
  const payer = await buyer("usdc");
  const offer = await offered(payer.address, usdc());
  const signature = await signOffer(offer, payer.key);
  const plan: TxPlan = { kind: "capture", authorization: offer.authorization, signature };
  const tx = { nonce: 0n, gas: 100_000n, fees: await world.chain.fees() };
  for (const signer of [world.spender.address, world.intermediary.address]) {
    await expect(world.chain.sign(plan, { ...tx, signer })).rejects.toThrow(/refused to sign/);
    expect((await world.chain.simulate(plan, signer)).kind).toBe("revert");
  }
  await expect(world.chain.sign(plan, { ...tx, signer: payer.address })).rejects.toThrow(/no key/);
});

// Guarantee: gas money is looked at for the keys that would pay it, each for itself.
test("signers without gas money are not counted on", async () => {
  const [relayer] = world.chain.facts.relayers;
  expect(await world.chain.fundedSigners("eip3009")).toEqual([relayer]);
  expect(await world.chain.fundedSigners("permit2")).toEqual([world.spender.address]);
  const [poor, rich] = [await world.actor(), await world.actor()];
  await world.node("anvil_setBalance", [poor.address, "0x1"]);
  const { createEvmChain } = await import("./chain.ts");
  const chainOf = (...relayerKeys: Hex[]) =>
    createEvmChain({ ...world.config, relayerKeys }, world.rpc, world.intermediary.key, world.log);
  expect(await chainOf(poor.key).fundedSigners("eip3009")).toEqual([]);
  expect(await chainOf(poor.key).fundedSigners("permit2")).toEqual([world.spender.address]);
  expect(await chainOf(poor.key, rich.key).fundedSigners("eip3009")).toEqual([rich.address]);
});
