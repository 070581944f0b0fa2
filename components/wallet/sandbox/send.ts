import { type Hex, hexToBigInt, isAddress, isHex, type PrivateKeyAccount } from "viem";
import type { Transaction } from "./describe.ts";
import type { SandboxDoor } from "./door.ts";
import { ProviderFault } from "./provider-fault.ts";

/** EIP-1193: not authorised, so not done. */
const NOTHING_LEFT = 4100;
/** EIP-1474: internal error, which leaves open what happened. */
const UNCERTAIN = -32603;

const hexOf = (value: unknown, what: string): Hex => {
  if (!isHex(value)) throw new Error(`the node gave no ${what}`);
  return value;
};

/** Fills in, signs and broadcasts a transaction; gives its hash. */
export async function sendTransaction(given: {
  door: SandboxDoor;
  account: PrivateKeyAccount;
  caip2: string;
  transaction: Transaction;
}): Promise<Hex> {
  const { door, account, caip2, transaction } = given;
  // Until the transaction is handed to the node, nothing has left: such errors say so by their number.
  const call = async (method: string, params: unknown[], code = NOTHING_LEFT) => {
    const answer = await door.rpc({ chain: caip2, method, params });
    if (!("error" in answer)) return answer.result;
    throw new ProviderFault(code, answer.error.message);
  };
  const { to } = transaction;
  if (to === undefined || !isAddress(to, { strict: false })) throw new Error("no recipient");
  const data = hexOf(transaction.data ?? "0x", "data");
  const value = hexOf(transaction.value ?? "0x0", "value");
  const [nonce, gas, gasPrice] = await Promise.all([
    call("eth_getTransactionCount", [account.address, "pending"]),
    call("eth_estimateGas", [{ from: account.address, to, data, value }]),
    call("eth_gasPrice", []),
  ]);
  const price = hexToBigInt(hexOf(gasPrice, "gas price"));
  const raw = await account.signTransaction({
    type: "eip1559",
    chainId: Number(caip2.slice(caip2.indexOf(":") + 1)),
    to,
    data,
    value: hexToBigInt(value),
    nonce: Number(hexOf(nonce, "nonce")),
    // A fifth more than estimated, as wallets do.
    gas: (hexToBigInt(hexOf(gas, "gas")) * 6n) / 5n,
    maxFeePerGas: price * 2n,
    maxPriorityFeePerGas: price / 10n,
  });
  return hexOf(await call("eth_sendRawTransaction", [raw], UNCERTAIN), "transaction hash");
}
