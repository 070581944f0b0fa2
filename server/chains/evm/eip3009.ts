import { encodeFunctionData, type Hex, hashTypedData, hexToNumber, slice } from "viem";
import type { Authorization } from "#server/domain/option/authorization.ts";
import { normaliseSignature } from "#server/domain/option/results.ts";
import { TRANSFER_BYTES_ABI, TRANSFER_VRS_ABI } from "./abi.ts";

/** EIP-712 types of EIP-3009; the domain type is always listed, since wallets that fill in an empty one sign something else. */
const TYPES = {
  EIP712Domain: [
    { name: "name", type: "string" },
    { name: "version", type: "string" },
    { name: "chainId", type: "uint256" },
    { name: "verifyingContract", type: "address" },
  ],
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
} as const;

/** What the wallet is asked to sign, as plain JSON with decimal numbers. */
export const eip3009TypedData = (a: Authorization) => ({
  types: TYPES,
  primaryType: "TransferWithAuthorization" as const,
  domain: a.domain,
  message: {
    from: a.payer,
    to: a.recipient,
    value: a.amount,
    validAfter: "0",
    validBefore: String(a.deadline),
    nonce: a.nonce,
  },
});

/** Digest of what is signed, computed from our own snapshot. */
export function eip3009Digest(a: Authorization): Hex {
  return hashTypedData({
    types: TYPES,
    primaryType: "TransferWithAuthorization",
    domain: {
      name: a.domain.name,
      version: a.domain.version ?? "",
      chainId: BigInt(a.domain.chainId),
      verifyingContract: a.domain.verifyingContract as Hex,
    },
    message: {
      from: a.payer as Hex,
      to: a.recipient as Hex,
      value: BigInt(a.amount),
      validAfter: 0n,
      validBefore: BigInt(a.deadline),
      nonce: a.nonce as Hex,
    },
  });
}

/** Calldata that moves the money; anyone may send it, the recipient is inside the signature. */
export function eip3009Call(a: Authorization, signature: Hex): Hex {
  const head = [
    a.payer as Hex,
    a.recipient as Hex,
    BigInt(a.amount),
    0n,
    BigInt(a.deadline),
    a.nonce as Hex,
  ] as const;
  if (a.signatures === "bytes")
    return encodeFunctionData({ abi: TRANSFER_BYTES_ABI, args: [...head, signature] });
  const normal = normaliseSignature(signature);
  if (normal === null) throw new Error("this token takes only a plain account's signature");
  const [r, s] = [slice(normal as Hex, 0, 32), slice(normal as Hex, 32, 64)];
  const v = hexToNumber(slice(normal as Hex, 64, 65));
  return encodeFunctionData({ abi: TRANSFER_VRS_ABI, args: [...head, v, r, s] });
}
