import { type Hex, isHex, type PrivateKeyAccount } from "viem";
import {
  describeMessage,
  describeTransaction,
  describeTypedData,
  type Transaction,
  type TypedData,
} from "./describe.ts";
import type { SandboxDoor } from "./door.ts";
import { ProviderFault } from "./provider-fault.ts";
import { sendTransaction } from "./send.ts";
import type { WalletWindow } from "./window.ts";

type Signer = { account: PrivateKeyAccount; window: WalletWindow };

/** Signs typed data; the wallet of the wrong network signs it for the next chain id. */
export function signTypedData({ account, window }: Signer, text: unknown): Promise<Hex> {
  const data: TypedData = typeof text === "string" ? JSON.parse(text) : text;
  return window.perform(describeTypedData(data), (personality) => {
    const { EIP712Domain: _, ...types } = data.types;
    const wrong = { ...data.domain, chainId: Number(data.domain.chainId) + 1 };
    const domain = personality === "wrong_chain" ? wrong : data.domain;
    const { primaryType, message } = data;
    return account.signTypedData({ domain, types, primaryType, message });
  });
}

/** Signs a text as `personal_sign` does. */
export function signMessage({ account, window }: Signer, message: unknown): Promise<Hex> {
  const text = String(message);
  return window.perform(describeMessage(text), () =>
    account.signMessage({ message: isHex(text) ? { raw: text } : text }),
  );
}

/** Signs and broadcasts a transaction; the wallet of the wrong network does so on `other`, if there is one. */
export function send(
  { account, window }: Signer,
  transaction: Transaction,
  on: { door: SandboxDoor; chain: string; other: string | null },
): Promise<Hex> {
  return window.perform(describeTransaction(transaction), async (personality) => {
    const caip2 = personality === "wrong_chain" ? on.other : on.chain;
    if (caip2 === null) throw new ProviderFault(4901, "There is no other network.");
    return sendTransaction({ door: on.door, account, caip2, transaction });
  });
}
