import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { encodeFunctionData, type Hex, parseAbi, parseTransaction } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ChainUnavailable, type Fees, type TxPlan } from "#server/ports/chain.ts";
import { fundGas, mint } from "#server/sandbox/deploy.ts";
import {
  type Actor,
  nonceOf,
  signatureOffer,
  signOffer,
  startTestChain,
  type TestChain,
  tokenAt,
} from "#server/testing/chain.ts";
import { createEvmChain } from "./chain.ts";
import { createRpc } from "./rpc.ts";

const CALLER = parseAbi(["function run(address[] to, bytes[] data)"]);
const TRANSFER = parseAbi(["function transfer(address to, uint256 value)"]);
const AUTHORIZED = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
]);
const BACKWARD = parseAbi([
  "function authorized(address from, address to, uint256 value, bytes32 nonce)",
  "function plain(address from, address to, uint256 value)",
]);

let world: TestChain;
let counter = 0;

beforeAll(async () => {
  world = await startTestChain(91_011);
});
afterAll(() => world?.stop());

const usdc = () => `eip155:91011/erc20:${world.deployment.usdc.toLowerCase()}`;

async function buyer(): Promise<Actor> {
  const actor = await world.actor();
  await mint(world.rpcUrl, world.deployment, "usdc", actor.address, 100_000_000n);
  return actor;
}

/** A signed authorization of a payer, as the calldata that anybody may send. */
async function authorization(payer: Actor, amount: bigint, recipient: string) {
  const nonce = nonceOf(`observed ${++counter}`);
  const offer = signatureOffer(
    world.chain.offer({
      asset: usdc(),
      payer: payer.address,
      payerHasCode: false,
      recipient,
      amount,
      nonce,
      tag: nonce,
      proof: null,
      deadline: 4_000_000_000,
      allowance: 0n,
      approveHeadroomBps: 0,
    }),
  );
  const signature = await signOffer(offer, payer.key);
  const args = [
    payer.address,
    recipient as Hex,
    amount,
    0n,
    4_000_000_000n,
    nonce,
    signature,
  ] as const;
  const plan: TxPlan = { kind: "capture", authorization: offer.authorization, signature };
  return { nonce, plan, data: encodeFunctionData({ abi: AUTHORIZED, args }) };
}

const latest = async () => (await world.chain.head()).latest;

async function together(from: Actor, to: Hex, calls: Hex[]): Promise<void> {
  const caller = await world.odd("Caller").deploy();
  const data = encodeFunctionData({ abi: CALLER, args: [calls.map(() => to), calls] });
  await world.send(from, { to: caller, data });
}

// Guarantee: each authorization in one transaction names its own transfer, and a plain transfer beside them names none.
test("two authorizations and a plain transfer", async () => {
  const [one, two] = [await buyer(), await buyer()];
  const us = world.intermediary.address;
  const first = await authorization(one, 3n, us);
  const elsewhere = await authorization(one, 4n, two.address);
  const second = await authorization(two, 5n, us);
  const third = await authorization(one, 6n, us);
  await together(two, world.deployment.usdc, [first.data, elsewhere.data, second.data, third.data]);
  const found = await world.chain.inboundTransfers(await latest(), [us]);
  expect(found.map(({ payer, amount, authNonce }) => [payer, amount, authNonce])).toEqual([
    [one.address, 3n, first.nonce],
    [two.address, 5n, second.nonce],
    [one.address, 6n, third.nonce],
  ]);
  expect(found[0]).toMatchObject({ asset: usdc(), recipient: us });
  expect(new Set(found.map(({ logIndex }) => logIndex)).size).toBe(3);
  const plain = encodeFunctionData({ abi: TRANSFER, args: [us, 7n] });
  await world.send(one, { to: world.deployment.usdc, data: plain });
  const [later] = await world.chain.inboundTransfers(await latest(), [us]);
  expect(later).toMatchObject({ payer: one.address, amount: 7n, authNonce: null });
  expect(await world.chain.inboundTransfers(await latest(), [two.address])).toEqual([]);
});

// Guarantee: a token that tells the transfer before the authorization is understood, and no transfer gets two nonces.
test("the other order of events", async () => {
  const payer = await world.actor();
  const us = world.intermediary.address;
  const token = await world.odd("BackwardToken").deploy();
  const chain = world.adapt((entry) => ({ ...entry, tokens: [tokenAt(token)] }));
  const [a, b] = [nonceOf("backward a"), nonceOf("backward b")];
  const call = (value: bigint, nonce: Hex) =>
    encodeFunctionData({
      abi: BACKWARD,
      functionName: "authorized",
      args: [payer.address, us, value, nonce],
    });
  await together(payer, token, [call(1n, a), call(2n, b)]);
  const found = await chain.inboundTransfers(await latest(), [us]);
  expect(found.map(({ amount, authNonce }) => [amount, authNonce])).toEqual([
    [1n, a],
    [2n, b],
  ]);
});

// Guarantee: a token that is not in the registry does not exist, whatever it emits.
test("a stranger's token is not seen", async () => {
  const payer = await world.actor();
  const token = await world.odd("BackwardToken").deploy();
  const args = [payer.address, world.intermediary.address, 5n] as const;
  const data = encodeFunctionData({ abi: BACKWARD, functionName: "plain", args });
  await world.send(payer, { to: token, data });
  expect(await world.chain.inboundTransfers(await latest(), [world.intermediary.address])).toEqual(
    [],
  );
});

// Guarantee: after a reorganisation the old block is unknown, never empty, and its height has another hash.
test("a reorganisation", async () => {
  const payer = await buyer();
  const us = world.intermediary.address;
  const data = encodeFunctionData({ abi: TRANSFER, args: [us, 9n] });
  const hash = await world.send(payer, { to: world.deployment.usdc, data });
  const block = await latest();
  expect(await world.chain.inboundTransfers(block, [us])).toHaveLength(1);
  expect(await world.chain.receiptsIn(block, [hash])).toHaveLength(1);
  await world.node("anvil_reorg", [1, []]);
  const now = await world.chain.blockAt(block.number);
  expect(now?.hash).not.toBe(block.hash);
  expect(now?.parent).toBe(block.parent);
  await expect(world.chain.inboundTransfers(block, [us])).rejects.toThrow(ChainUnavailable);
  expect(await world.chain.receipt(hash)).toBeNull();
  expect(await world.chain.blockAt(block.number + 1_000n)).toBeNull();
});

// Guarantee: finality tags come with the head, behind it and on its chain.
test("the head and its tags", async () => {
  await world.node("anvil_mine", ["0x5"]);
  const { latest: top, safe, finalized } = await world.chain.head();
  expect(safe).toBeLessThan(top.number);
  expect(finalized.number).toBeLessThan(safe);
  expect(await world.chain.blockAt(finalized.number)).toEqual(finalized);
});

// Guarantee: receipts of one block are found one by one and all at once, and only those of that block.
test("receipts of a block", async () => {
  const payer = await world.actor();
  const earlier = await world.send(payer, { to: payer.address });
  await world.node("evm_setAutomine", [false]);
  const hashes: string[] = [];
  for (let index = 0; index < 5; index++) {
    const signed = await world.chain.sign(
      { kind: "fill" },
      {
        signer: world.relayer.address,
        nonce: BigInt(index),
        gas: 21_000n,
        fees: { maxFee: 20_000_000_000n, maxPriorityFee: 1_000_000_000n },
      },
    );
    expect(await world.chain.broadcast(signed.raw)).toEqual({ kind: "accepted" });
    hashes.push(signed.hash);
  }
  await world.node("evm_mine");
  await world.node("evm_setAutomine", [true]);
  const block = await latest();
  for (const asked of [hashes.slice(0, 2), hashes]) {
    const found = await world.chain.receiptsIn(block, [...asked, earlier]);
    expect(found.map(({ hash }) => hash).toSorted()).toEqual(asked.toSorted());
    for (const receipt of found) {
      expect(receipt).toMatchObject({ status: "success", blockHash: block.hash });
      expect(receipt.gasCost).toBeGreaterThan(21_000n * 1_000_000_000n - 1n);
    }
  }
});

async function signedFill(nonce: bigint, fees: Fees, chain = world.chain, signer = world.relayer) {
  return chain.sign({ kind: "fill" }, { signer: signer.address, nonce, gas: 21_000n, fees });
}

// Guarantee: what a node says to raw bytes is understood: it has them, their nonce is gone, they pay too little, nobody pays.
test("broadcasts are classified", async () => {
  const nonce = await world.chain.transactionCount(world.relayer.address, "latest");
  const fees = await world.chain.fees();
  await world.node("evm_setAutomine", [false]);
  const first = await signedFill(nonce, fees);
  expect(await world.chain.broadcast(first.raw)).toEqual({ kind: "accepted" });
  expect(await world.chain.broadcast(first.raw)).toEqual({ kind: "already_known" });
  const rival = await world.chain.sign(
    { kind: "fill" },
    { signer: world.relayer.address, nonce, gas: 22_000n, fees },
  );
  expect(await world.chain.broadcast(rival.raw)).toEqual({ kind: "underpriced" });
  await world.node("evm_mine");
  await world.node("evm_setAutomine", [true]);
  const old = await signedFill(nonce, { ...fees, maxFee: fees.maxFee + 1n });
  expect(await world.chain.broadcast(old.raw)).toEqual({ kind: "nonce_too_low" });
  const cheap = await signedFill(nonce + 1n, { maxFee: 1n, maxPriorityFee: 1n });
  expect(await world.chain.broadcast(cheap.raw)).toEqual({ kind: "underpriced" });
  const poor = await world.actor();
  await world.node("anvil_setBalance", [poor.address, "0x1"]);
  const config = { ...world.config, relayerKeys: [poor.key] };
  const broke = createEvmChain(config, world.rpc, world.intermediary.key, world.log);
  const unpaid = await signedFill(0n, fees, broke, poor);
  expect(await broke.broadcast(unpaid.raw)).toEqual({ kind: "insufficient_funds" });
  expect((await world.chain.broadcast(Uint8Array.of(1, 2, 3))).kind).toBe("rejected");
});

// Guarantee: bytes that a mined transaction was made of are known again, so that a lost answer never becomes a second payment.
test("re-sending mined bytes", async () => {
  const fees = await world.chain.fees();
  const nonce = await world.chain.transactionCount(world.relayer.address, "latest");
  const signed = await signedFill(nonce, fees);
  expect(await world.chain.broadcast(signed.raw)).toEqual({ kind: "accepted" });
  await expect
    .poll(() => world.chain.receipt(signed.hash), { timeout: 5_000, interval: 20 })
    .not.toBeNull();
  const again = await world.chain.broadcast(signed.raw);
  expect(["already_known", "nonce_too_low"]).toContain(again.kind);
});

/** A node that breaks the connection when it is asked for `method`, and otherwise is the real one. */
async function brokenFor(method: string) {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const answer = await fetch(world.rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    const text = await answer.text();
    if (body.includes(`"${method}"`)) {
      response.destroy();
      return;
    }
    response.setHeader("content-type", "application/json").end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

// Guarantee: a node that took the bytes and lost its answer is "unknown", and asking again finds them.
test("a lost answer", async () => {
  const broken = await brokenFor("eth_sendRawTransaction");
  try {
    const chain = createEvmChain(
      world.config,
      createRpc([broken.url], 91_011),
      world.intermediary.key,
      world.log,
    );
    await world.node("evm_setAutomine", [false]);
    const fees = await chain.fees();
    const nonce = await chain.transactionCount(world.relayer.address, "latest");
    const signed = await signedFill(nonce, fees);
    expect((await chain.broadcast(signed.raw)).kind).toBe("unknown");
    expect(await world.chain.broadcast(signed.raw)).toEqual({ kind: "already_known" });
    const both = createRpc([broken.url, world.rpcUrl], 91_011);
    const wider = createEvmChain(world.config, both, world.intermediary.key, world.log);
    expect(await wider.broadcast(signed.raw)).toEqual({ kind: "already_known" });
  } finally {
    await world.node("evm_mine");
    await world.node("evm_setAutomine", [true]);
    broken.close();
  }
});

// Guarantee: transactions are EIP-1559, for this chain alone, and the same input gives the same bytes.
test("signed transactions", async () => {
  const payer = await buyer();
  const { plan } = await authorization(payer, 5n, world.intermediary.address);
  await fundGas(world.rpcUrl, world.relayer.address);
  const tx = {
    signer: world.relayer.address,
    nonce: 12n,
    gas: 90_000n,
    fees: { maxFee: 7n, maxPriorityFee: 3n },
  };
  const [one, two] = [await world.chain.sign(plan, tx), await world.chain.sign(plan, tx)];
  expect(two).toEqual(one);
  const raw = `0x${Buffer.from(one.raw).toString("hex")}` as const;
  expect(parseTransaction(raw)).toMatchObject({
    type: "eip1559",
    chainId: 91_011,
    nonce: 12,
    gas: 90_000n,
    maxFeePerGas: 7n,
    maxPriorityFeePerGas: 3n,
    to: world.deployment.usdc.toLowerCase(),
  });
  await expect(world.chain.sign(plan, { ...tx, gas: 5_000_000n })).rejects.toThrow(/over the cap/);
});
