import { concat, type Hex, keccak256, pad, slice, stringToHex, toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import type { Authorization } from "#server/domain/option/authorization.ts";
import { eip3009Call, eip3009Digest, eip3009TypedData } from "./eip3009.ts";

const AUTHORIZATION: Authorization = {
  mechanism: "eip3009",
  chain: "eip155:8453",
  token: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
  payer: "0x1111111111111111111111111111111111111111",
  recipient: "0x2222222222222222222222222222222222222222",
  amount: "12500000",
  nonce: `0x${"ab".repeat(32)}`,
  deadline: 1_800_000_300,
  spender: null,
  domain: {
    name: "USD Coin",
    version: "2",
    chainId: 8453,
    verifyingContract: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
  },
  signatures: "vrs",
};

const hashOf = (text: string): Hex => keccak256(stringToHex(text));
const word = (value: bigint | Hex): Hex =>
  typeof value === "bigint" ? toHex(value, { size: 32 }) : pad(value);

/** The digest as EIP-712 and EIP-3009 define it, put together by hand. */
function digestByHand(a: Authorization): Hex {
  const domain = keccak256(
    concat([
      hashOf("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
      hashOf(a.domain.name),
      hashOf(a.domain.version ?? ""),
      word(BigInt(a.domain.chainId)),
      word(a.domain.verifyingContract as Hex),
    ]),
  );
  const struct = keccak256(
    concat([
      // EIP-3009's TRANSFER_WITH_AUTHORIZATION_TYPEHASH.
      "0x7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267",
      word(a.payer as Hex),
      word(a.recipient as Hex),
      word(BigInt(a.amount)),
      word(0n),
      word(BigInt(a.deadline)),
      a.nonce as Hex,
    ]),
  );
  return keccak256(concat(["0x1901", domain, struct]));
}

// Guarantee: the digest kept with an offer is the one the contract computes.
test("the digest is EIP-3009's", () => {
  expect(eip3009Digest(AUTHORIZATION)).toBe(digestByHand(AUTHORIZATION));
});

// Guarantee: what a wallet reads is plain JSON with the domain type listed and no numbers a parser could round.
test("the typed data", async () => {
  const data = JSON.parse(JSON.stringify(eip3009TypedData(AUTHORIZATION)));
  expect(Object.keys(data.types)).toEqual(["EIP712Domain", "TransferWithAuthorization"]);
  expect(data.types.EIP712Domain.map(({ name }: { name: string }) => name)).toEqual([
    "name",
    "version",
    "chainId",
    "verifyingContract",
  ]);
  expect(data.primaryType).toBe("TransferWithAuthorization");
  expect(data.message).toEqual({
    from: AUTHORIZATION.payer,
    to: AUTHORIZATION.recipient,
    value: "12500000",
    validAfter: "0",
    validBefore: "1800000300",
    nonce: AUTHORIZATION.nonce,
  });
  const account = privateKeyToAccount(`0x${"01".repeat(32)}`);
  const { EIP712Domain: _, ...types } = data.types;
  const typed = await account.signTypedData({ ...data, types });
  expect(typed).toBe(await account.sign({ hash: digestByHand(AUTHORIZATION) }));
});

const [r, s] = ["11".repeat(32), "22".repeat(32)];

// Guarantee: each token gets the overload it has, with the signature in the form that overload takes.
test("the call in both signature forms", () => {
  // Selectors of transferWithAuthorization in Circle's FiatTokenV2_2.
  const vrs = eip3009Call(AUTHORIZATION, `0x${r}${s}1c`);
  expect(slice(vrs, 0, 4)).toBe("0xe3ee160e");
  expect(vrs.endsWith(`${pad("0x1c").slice(2)}${r}${s}`)).toBe(true);
  expect(eip3009Call(AUTHORIZATION, `0x${r}${s}01`)).toBe(vrs);
  const bytes = eip3009Call({ ...AUTHORIZATION, signatures: "bytes" }, `0x${r}${s}1c`);
  expect(slice(bytes, 0, 4)).toBe("0xcf092995");
  expect(bytes).toContain(`${r}${s}1c`);
  const odd = eip3009Call({ ...AUTHORIZATION, signatures: "bytes" }, "0x123456");
  expect(odd).toContain("123456");
  expect(() => eip3009Call(AUTHORIZATION, "0x123456")).toThrow(/plain account/);
});
