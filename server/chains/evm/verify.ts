import { encodeFunctionData, type Hex, hashMessage, parseAbi, recoverAddress } from "viem";
import type { Authorization } from "#server/domain/option/authorization.ts";
import { normaliseSignature } from "#server/domain/option/results.ts";
import { ChainUnavailable, type SignatureCheck, type TxPlan } from "#server/ports/chain.ts";
import { findAllowanceSlot } from "./allowance-slot.ts";
import type { Context } from "./context.ts";
import { digestOf } from "./offer.ts";
import { PERMIT2_ADDRESS } from "./permit2.ts";
import { type Rpc, RpcRefusal } from "./rpc.ts";
import { reasonFromFacts, tryCall } from "./simulate.ts";

/** Half the order of secp256k1: contracts refuse signatures whose s is above it (EIP-2). */
const HALF_N = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
/** ERC-6492 wrapping of a signature for an account that does not exist yet; no token takes it. */
const ERC6492_SUFFIX = /(6492){16}$/;
const MAX_UINT = `0x${"f".repeat(64)}`;
const ERC1271 = parseAbi(["function isValidSignature(bytes32, bytes) view returns (bytes4)"]);
const ERC1271_VALID = "0x1626ba7e";

/** Whether a plain account made this signature over our digest, in the one form contracts accept. */
async function signedBy(payer: string, digest: Hex, signature: string): Promise<boolean> {
  const normal = normaliseSignature(signature);
  if (normal === null || BigInt(`0x${normal.slice(66, 130)}`) > HALF_N) return false;
  try {
    const signer = await recoverAddress({ hash: digest, signature: normal as Hex });
    return signer.toLowerCase() === payer;
  } catch {
    // Not a point of the curve: nobody signed this.
    return false;
  }
}

/** Finds out once where a token keeps its allowances; a failed search is repeated by the next caller. */
export function slotOf(context: Context, token: string): ReturnType<typeof findAllowanceSlot> {
  const { rpc, slots, log } = context;
  const known = slots.get(token);
  if (known !== undefined) return known;
  const search = findAllowanceSlot(rpc, token);
  slots.set(token, search);
  search.then(
    (found) => {
      if (found === null)
        log.warn({ token }, "allowance storage not found: pending approvals are not simulated");
    },
    () => slots.delete(token),
  );
  return search;
}

/** State in which Permit2 is allowed everything already; null: the token's storage is not understood. */
async function allowedState(
  context: Context,
  a: Authorization,
): Promise<Record<string, unknown> | null> {
  const slot = await slotOf(context, a.token);
  return slot === null
    ? null
    : { [a.token]: { stateDiff: { [slot(a.payer, PERMIT2_ADDRESS)]: MAX_UINT } } };
}

/** Asks a contract account itself whether a signature is its own (ERC-1271); `from` is who asks. */
async function acceptedByAccount(
  rpc: Rpc,
  account: string,
  digest: Hex,
  signature: string,
  from: string | null,
): Promise<boolean> {
  const data = encodeFunctionData({ abi: ERC1271, args: [digest, signature as Hex] });
  try {
    const answer = await rpc.read<Hex>("eth_call", [
      { ...(from === null ? {} : { from }), to: account, data },
      "latest",
    ]);
    return answer.startsWith(ERC1271_VALID);
  } catch (error) {
    if (error instanceof RpcRefusal) return false;
    throw error;
  }
}

/** Whether an account signed a message with `personal_sign` (EIP-191): by recovery, or by ERC-1271 where it has code. */
export async function provesAccount(
  rpc: Rpc,
  account: string,
  message: string,
  signature: string,
  hasCode: boolean,
): Promise<boolean> {
  if (ERC6492_SUFFIX.test(signature)) return false;
  const digest = hashMessage(message);
  return hasCode
    ? acceptedByAccount(rpc, account, digest, signature, null)
    : signedBy(account, digest, signature);
}

/** The next best where an approval is pending and cannot be pretended: signature, nonce, time and balance. */
async function judgeWithoutSimulation(
  context: Context,
  a: Authorization,
  signature: string,
  payerHasCode: boolean,
): Promise<SignatureCheck> {
  if (
    payerHasCode &&
    !(await acceptedByAccount(context.rpc, a.payer, digestOf(a), signature, PERMIT2_ADDRESS))
  )
    return { kind: "invalid", reason: "the account does not accept this signature" };
  const reason = await reasonFromFacts(context, a, true);
  return reason === null ? { kind: "valid" } : { kind: "would_revert", reason, detail: reason };
}

/** The key that will send the capture; null: none here. The simulation runs from it, because contracts look at their caller. */
const senderOf = ({ facts }: Context, a: Authorization): string | null =>
  a.mechanism === "permit2" ? a.spender : (facts.relayers[0] ?? null);

/**
 * Verifies a signature against the stored authorization, then runs the real call from the key that will send it. For an account
 * with code only that call decides: a library's verdict is true for EIP-7702 accounts whose token call reverts.
 */
export async function checkSignature(
  context: Context,
  a: Authorization,
  signature: string,
  options: { payerHasCode: boolean; allowancePending: boolean },
): Promise<SignatureCheck> {
  if (ERC6492_SUFFIX.test(signature))
    return { kind: "invalid", reason: "the account is not deployed" };
  if (!options.payerHasCode && !(await signedBy(a.payer, digestOf(a), signature)))
    return { kind: "invalid", reason: "not the payer's signature over what was offered" };
  if (a.mechanism === "eip3009" && a.signatures === "vrs" && normaliseSignature(signature) === null)
    return { kind: "invalid", reason: "the token takes only a plain account's signature" };
  const sender = senderOf(context, a);
  if (sender === null) throw new ChainUnavailable("no key may submit this here");
  const pretended =
    options.allowancePending && a.mechanism === "permit2"
      ? await allowedState(context, a)
      : undefined;
  if (pretended === null)
    return judgeWithoutSimulation(context, a, signature, options.payerHasCode);
  const plan: TxPlan = { kind: "capture", authorization: a, signature };
  const failed = await tryCall(context, plan, sender, pretended);
  if (failed === null) return { kind: "valid" };
  if (failed.reason === "bad_signature") return { kind: "invalid", reason: failed.detail };
  return { kind: "would_revert", reason: failed.reason, detail: failed.detail };
}
