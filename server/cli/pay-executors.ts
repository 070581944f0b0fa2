import {
  BaseError,
  createPublicClient,
  createWalletClient,
  defineChain,
  type Hex,
  http,
  isHex,
  keccak256,
  type PublicClient,
  RpcRequestError,
  stringToHex,
  TransactionNotFoundError,
} from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import {
  ActionDeclined,
  type Executor,
  type Executors,
  MaybeSent,
} from "#server/client/wallet/executors.ts";
import { createSolanaSigner } from "./pay-solana.ts";
import type { Sandbox } from "./sandbox-file.ts";

const hex = z.custom<Hex>((value) => typeof value === "string" && isHex(value));
const quantity = z.string().regex(/^0x[0-9a-fA-F]{1,64}$/);
const address = z.custom<Hex>(
  (value) => typeof value === "string" && /^0x[0-9a-fA-F]{40}$/.test(value),
);

const transactionParams = z.tuple([
  z.object({
    from: address,
    to: address,
    data: hex.optional(),
    value: quantity.optional(),
    gas: quantity.optional(),
    maxFeePerGas: quantity.optional(),
    maxPriorityFeePerGas: quantity.optional(),
  }),
]);

/** EIP-712 typed data, as text or as an object. */
const typedData = z.object({
  domain: z.record(z.string(), z.unknown()),
  types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
  primaryType: z.string(),
  message: z.record(z.string(), z.unknown()),
});

/** How long an earlier transaction of the same account may take before the next one is prepared. */
const EARLIER_TRANSACTION_MS = 30_000;
const RECEIPT_POLL_MS = 200;

/** Reads parameters; what does not fit is declined, because nothing was signed yet. */
function read<T>(shape: z.ZodType<T>, params: unknown): T {
  const parsed = shape.safeParse(params);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ActionDeclined(`unreadable parameters at ${issue?.path.join(".")}: ${issue?.message}`);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof BaseError)) return String(error);
  const { shortMessage, details } = error;
  return details === "" || details === shortMessage ? shortMessage : `${shortMessage} (${details})`;
}

/** The typed data of `eth_signTypedData_v4`, which comes as text or as an object. */
export function readTypedData(text: unknown): z.infer<typeof typedData> {
  if (typeof text !== "string") return read(typedData, text);
  try {
    return read(typedData, JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) throw new ActionDeclined("the typed data is not JSON");
    throw error;
  }
}

/** One chain of the sandbox, able to send for one of its accounts. */
function createSender(rpcUrl: string, chainId: number, account: PrivateKeyAccount) {
  const chain = defineChain({
    id: chainId,
    name: `Sandbox chain ${chainId}`,
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  });
  const transport = http(rpcUrl);
  return {
    wallet: createWalletClient({ account, chain, transport }),
    node: createPublicClient({ chain, transport, pollingInterval: RECEIPT_POLL_MS }),
  };
}

/** Whether the node itself said no, which a lost connection is not. */
const isRejection = (error: unknown): boolean =>
  error instanceof BaseError && error.walk((cause) => cause instanceof RpcRequestError) !== null;

/** Sends a signed transaction. A refusal counts only when the node does not know the transaction after it. */
async function broadcast(node: PublicClient, signed: Hex): Promise<Hex> {
  try {
    return await node.sendRawTransaction({ serializedTransaction: signed });
  } catch (error) {
    const hash = keccak256(signed);
    const known = await node.getTransaction({ hash }).catch((lookup: unknown) => {
      if (lookup instanceof TransactionNotFoundError) return null;
      throw new MaybeSent(hash, reasonOf(error), { cause: error });
    });
    if (known !== null) return hash;
    if (isRejection(error)) throw new ActionDeclined(reasonOf(error));
    throw new MaybeSent(hash, reasonOf(error), { cause: error });
  }
}

/** The key of the account that the option was chosen for; whatever else is asked to sign is declined. */
function signerOf(sandbox: Sandbox, wanted: unknown, account: string): PrivateKeyAccount {
  const lower = read(address, wanted).toLowerCase();
  const chosen = account.toLowerCase();
  if (!chosen.startsWith("eip155:") || !chosen.endsWith(`:${lower}`))
    throw new ActionDeclined(`${lower} is not the account that pays, ${account}`);
  const found = sandbox.accounts.find(({ caip10 }) => caip10.toLowerCase() === chosen);
  if (found === undefined) throw new ActionDeclined(`${account} is not an account of this sandbox`);
  return privateKeyToAccount(read(hex, found.privateKey));
}

/** What is signed for one chain must not be good on another. */
function requireChain({ chainId: named }: Record<string, unknown>, chainId: string): void {
  if (named === undefined) return;
  const id = z.coerce.bigint().safeParse(named);
  if (id.success && `eip155:${id.data}` === chainId) return;
  throw new ActionDeclined(`the typed data is for chain ${named}, and the action for ${chainId}`);
}

function createSend(sandbox: Sandbox): Executor {
  /** The last transaction of each account and chain. */
  const earlier = new Map<string, Hex>();
  return async (params, { chainId, account: chosen }) => {
    const [asked] = read(transactionParams, params);
    const account = signerOf(sandbox, asked.from, chosen);
    const rpcUrl = sandbox.chains.find(({ caip2 }) => caip2 === chainId)?.rpcUrl;
    if (rpcUrl === undefined) throw new ActionDeclined(`${chainId} is not a chain of this sandbox`);
    const { wallet, node } = createSender(rpcUrl, Number(chainId.split(":")[1]), account);
    const key = `${chainId}:${account.address}`;
    let signed: Hex;
    try {
      // An approval to 0 must be in a block before the next one can even be estimated.
      const hash = earlier.get(key);
      if (hash !== undefined)
        await node.waitForTransactionReceipt({ hash, timeout: EARLIER_TRANSACTION_MS });
      const { gas, value, maxFeePerGas, maxPriorityFeePerGas, to, data } = asked;
      const request = await wallet.prepareTransactionRequest({
        to,
        ...(data === undefined ? {} : { data }),
        ...(value === undefined ? {} : { value: BigInt(value) }),
        ...(gas === undefined ? {} : { gas: BigInt(gas) }),
        ...(maxFeePerGas === undefined ? {} : { maxFeePerGas: BigInt(maxFeePerGas) }),
        ...(maxPriorityFeePerGas === undefined
          ? {}
          : { maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas) }),
      });
      signed = await wallet.signTransaction(request);
    } catch (error) {
      throw new ActionDeclined(`the transaction cannot be prepared: ${reasonOf(error)}`);
    }
    const hash = await broadcast(node, signed);
    earlier.set(key, hash);
    return hash;
  };
}

/** Executors that sign with the sandbox's own accounts and send to its own chains. */
export function createSandboxExecutors(sandbox: Sandbox): Executors {
  return {
    eip155: {
      eth_signTypedData_v4: async ([from, text], { chainId, account }) => {
        const { domain, types, primaryType, message } = readTypedData(text);
        requireChain(domain, chainId);
        const signer = signerOf(sandbox, from, account);
        return signer.signTypedData({ domain, types, primaryType, message });
      },
      eth_sendTransaction: createSend(sandbox),
      personal_sign: async ([text, from], { account }) => {
        const raw = typeof text === "string" && isHex(text) ? text : stringToHex(String(text));
        return signerOf(sandbox, from, account).signMessage({ message: { raw } });
      },
    },
    solana: { solana_signTransaction: createSolanaSigner(sandbox) },
  };
}
