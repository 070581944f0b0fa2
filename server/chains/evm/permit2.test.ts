import {
  concat,
  decodeFunctionData,
  type Hex,
  keccak256,
  pad,
  slice,
  stringToHex,
  toHex,
} from "viem";
import { expect, test } from "vitest";
import type { Authorization } from "#server/domain/option/authorization.ts";
import { TOKEN_ABI } from "./abi.ts";
import {
  approvals,
  nonceBit,
  permit2Call,
  permit2Digest,
  permit2Separator,
  permit2TypedData,
} from "./permit2.ts";

const PERMIT2 = "0x000000000022d473030f116ddee9f6b43ac78ba3";
const AUTHORIZATION: Authorization = {
  mechanism: "permit2",
  chain: "eip155:1",
  token: "0xdac17f958d2ee523a2206206994597c13d831ec7",
  payer: "0x1111111111111111111111111111111111111111",
  recipient: "0x2222222222222222222222222222222222222222",
  amount: "12500001",
  nonce: `0x${"ab".repeat(31)}05`,
  deadline: 1_800_000_300,
  spender: "0x3333333333333333333333333333333333333333",
  domain: { name: "Permit2", chainId: 1, verifyingContract: PERMIT2 },
  signatures: "bytes",
};

const hashOf = (text: string): Hex => keccak256(stringToHex(text));
const word = (value: bigint | Hex): Hex =>
  typeof value === "bigint" ? toHex(value, { size: 32 }) : pad(value);

// Guarantee: Permit2 is told from another contract by what the deployed one answers on Ethereum.
test("the domain is Permit2's", () => {
  expect(permit2Separator(1n)).toBe(
    "0x866a5aba21966af95d6c7ab78eb2b2fc913915c28be3b9aa07cc04ff903e3f28",
  );
});

// Guarantee: the digest kept with an offer is the one Permit2 computes: no version in its domain, no witness.
test("the digest is Permit2's", () => {
  const domain = keccak256(
    concat([
      hashOf("EIP712Domain(string name,uint256 chainId,address verifyingContract)"),
      hashOf("Permit2"),
      word(1n),
      word(PERMIT2),
    ]),
  );
  const permissions = "TokenPermissions(address token,uint256 amount)";
  const permitted = keccak256(
    concat([hashOf(permissions), word(AUTHORIZATION.token as Hex), word(12_500_001n)]),
  );
  const struct = keccak256(
    concat([
      hashOf(
        `PermitTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline)${permissions}`,
      ),
      permitted,
      word(AUTHORIZATION.spender as Hex),
      AUTHORIZATION.nonce as Hex,
      word(1_800_000_300n),
    ]),
  );
  expect(permit2Digest(AUTHORIZATION)).toBe(keccak256(concat(["0x1901", domain, struct])));
});

// Guarantee: what a wallet reads is plain JSON with the domain type listed and the nonce as a full decimal number.
test("the typed data", () => {
  const data = JSON.parse(JSON.stringify(permit2TypedData(AUTHORIZATION)));
  expect(Object.keys(data.types)).toEqual([
    "EIP712Domain",
    "PermitTransferFrom",
    "TokenPermissions",
  ]);
  expect(data.domain).toEqual({ name: "Permit2", chainId: 1, verifyingContract: PERMIT2 });
  expect(data.message).toEqual({
    permitted: { token: AUTHORIZATION.token, amount: "12500001" },
    spender: AUTHORIZATION.spender,
    nonce: BigInt(AUTHORIZATION.nonce).toString(),
    deadline: "1800000300",
  });
});

// Guarantee: the whole amount goes to the offer's recipient from the offer's payer, whatever the signature is.
test("the call", () => {
  const call = permit2Call(AUTHORIZATION, "0x1234");
  // Selector of SignatureTransfer.permitTransferFrom with one token.
  expect(slice(call, 0, 4)).toBe("0x30f28b7a");
  const words = call.slice(10).match(/.{64}/g) ?? [];
  const at = (index: number) => `0x${words[index]}`;
  expect([at(0), at(1), at(2), at(3)]).toEqual([
    word(AUTHORIZATION.token as Hex),
    word(12_500_001n),
    AUTHORIZATION.nonce,
    word(1_800_000_300n),
  ]);
  expect([at(4), at(5), at(6)]).toEqual([
    word(AUTHORIZATION.recipient as Hex),
    word(12_500_001n),
    word(AUTHORIZATION.payer as Hex),
  ]);
});

// Guarantee: a nonce's bit is where Permit2 keeps it: the low byte counts bits, the rest counts words.
test("the nonce bitmap", () => {
  expect(nonceBit(AUTHORIZATION.nonce)).toEqual({
    word: BigInt(`0x${"ab".repeat(31)}`),
    mask: 1n << 5n,
  });
  expect(nonceBit(`0x${"00".repeat(31)}ff`)).toEqual({ word: 0n, mask: 1n << 255n });
});

const values = (allowance: bigint, approveZeroFirst: boolean, headroomBps: number) =>
  approvals(AUTHORIZATION, allowance, { approveZeroFirst, headroomBps }).map(({ data }) => {
    expect(data.method).toBe("eth_sendTransaction");
    const [tx] = data.params as [{ from: string; to: string; data: Hex; value: string }];
    expect(tx).toMatchObject({ from: AUTHORIZATION.payer, to: AUTHORIZATION.token, value: "0x0" });
    const { functionName, args } = decodeFunctionData({ abi: TOKEN_ABI, data: tx.data });
    expect([functionName, String(args?.[0]).toLowerCase()]).toEqual(["approve", PERMIT2]);
    return args?.[1];
  });

// Guarantee: an approval is asked for exactly when it is missing, for no more than the amount and its head-room.
test("approvals", () => {
  expect(values(12_500_001n, true, 200)).toEqual([]);
  expect(values(12_500_000n, false, 0)).toEqual([12_500_001n]);
  expect(values(0n, true, 0)).toEqual([12_500_001n]);
  expect(values(1n, true, 0)).toEqual([0n, 12_500_001n]);
  // 2 % of 12,500,001 is 250,000.02, rounded up.
  expect(values(0n, false, 200)).toEqual([12_750_002n]);
});
