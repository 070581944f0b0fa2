import fc from "fast-check";
import { expect, test } from "vitest";
import { accountId, assetId, parseAccount, parseAsset } from "./caip.ts";

const ADDRESS = "0xAbCdEf0123456789aBcDeF0123456789abcdef01";

// Guarantee: two spellings of one account are one account.
test("an eip155 account is canonical in lower case, whatever its checksum", () => {
  expect(parseAccount(`eip155:31337:${ADDRESS}`)).toEqual({
    chain: "eip155:31337",
    address: "0xabcdef0123456789abcdef0123456789abcdef01",
  });
});

// Guarantee: nothing that only looks like an account is ever paid or charged.
test.for([
  "",
  "eip155",
  "eip155:1",
  `eip155:01:${ADDRESS}`,
  `eip155:0:${ADDRESS}`,
  `eip155:1a:${ADDRESS}`,
  `eip155:99999999999999999999:${ADDRESS}`,
  `eip155:1:${ADDRESS}0`,
  `eip155:1:${ADDRESS.slice(0, -1)}`,
  `eip155:1:${ADDRESS.slice(0, -1)}g`,
  `eip155:1: ${ADDRESS}`,
  `EIP155:1:${ADDRESS}`,
  `eip155:1:${ADDRESS}\n`,
  "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:0OIl",
  "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:O0000000000000000000000000000000000",
  `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:${"z".repeat(32)}`,
  `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:${"z".repeat(44)}`,
  `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:${"1".repeat(33)}`,
])("%j is no account", (value) => {
  expect(parseAccount(value)).toBeNull();
});

// Guarantee: a Solana account is 32 bytes, however many letters they take.
test.for([
  "7S3P4HxJpyyigGzodYwHtCxZyUQe9JiBMHyRWXArAaKv",
  "11111111111111111111111111111111",
  "So11111111111111111111111111111111111111112",
  "SysvarC1ock11111111111111111111111111111111",
])("%s is a Solana account", (address) => {
  const chain = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
  expect(parseAccount(`${chain}:${address}`)).toEqual({ chain, address });
});

// Guarantee: reading what was written gives the same thing.
test("accounts and assets survive a round trip", () => {
  const hex = fc.string({
    unit: fc.constantFrom(..."0123456789abcdef"),
    minLength: 40,
    maxLength: 40,
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 31 }), hex, (chain, body) => {
      const account = { chain: `eip155:${chain}`, address: `0x${body}` };
      expect(parseAccount(accountId(account))).toEqual(account);
      const asset = { chain: account.chain, namespace: "erc20", reference: account.address };
      expect(parseAsset(assetId(asset))).toEqual(asset);
    }),
  );
});
