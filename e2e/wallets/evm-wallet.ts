import { randomUUID } from "node:crypto";
import type { BrowserContext } from "@playwright/test";
import { createWalletClient, type Hex, isHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { nodeTransport, rpc } from "#server/sandbox/node-rpc.ts";
import { announceInPage, type InjectedAnswer, type InjectedInfo } from "./evm-page.ts";

/** A network as the wallet knows it. */
export type KnownChain = { id: number; rpcUrl: string };

/** One call as it reached the wallet. */
export type WalletCall = { method: string; params: unknown[] };

/** What becomes of the next call of a method; `vanish` does it and then the wallet is gone without an answer. */
type Whim =
  | { kind: "refuse"; code: number; message: string }
  | { kind: "hold"; reached: () => void; until: Promise<void> }
  | { kind: "vanish" }
  | { kind: "answer"; answer: unknown };

/** A call that waits in the wallet; `reached` once it is there. */
export type Held = { reached: Promise<void>; release: () => void };

/** A wallet in the browser of a test that really signs and really sends; its key stays in Node. */
export type EvmWallet = {
  name: string;
  address: Hex;
  /** Every call it got, in order. */
  calls: WalletCall[];
  /** How often a method was called. */
  count(method: string): number;
  /** The chain id it is on now. */
  chainId(): number;
  /** Says no to the next call of a method; 4001 by default. */
  refuseNext(method: string, code?: number, message?: string): void;
  /** Lets the next call of a method wait until it is released. */
  holdNext(method: string): Held;
  /** Does nothing at the next call of a method, and answers this. */
  answerNext(method: string, answer: unknown): void;
  /** Does the next call of a method, then disconnects and answers with an error, as a wallet that was closed. */
  vanishNext(method: string): void;
  /** Moves to another network on its own, as its user can. */
  moveTo(chainId: number): Promise<void>;
  /** Shows another account, as its user can. */
  changeKey(key: Hex): Promise<void>;
};

class WalletFault extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const hexOf = (value: number) => `0x${value.toString(16)}`;

/**
 * Puts a wallet into every page of a context: no account until it is asked for, on a network of its own at first, switching and adding
 * networks, with events.
 */
export async function injectEvmWallet(
  context: BrowserContext,
  settings: {
    key: Hex;
    /** Networks it knows; others it learns by `wallet_addEthereumChain`. */
    chains: KnownChain[];
    /** Where it is at first: by default a network that is not the shop's. */
    startsOn?: number;
    name?: string;
    rdns?: string;
    /** A contract of the key that is the account: it signs by ERC-1271, with the key's signature. */
    contract?: Hex;
  },
): Promise<EvmWallet> {
  const uuid = randomUUID();
  const info: InjectedInfo = {
    binding: `wallet_${uuid.replaceAll("-", "")}`,
    uuid,
    name: settings.name ?? "Test Wallet",
    rdns: settings.rdns ?? "test.florin.wallet",
  };
  let account = privateKeyToAccount(settings.key);
  let chainId = settings.startsOn ?? 1;
  const known = new Map(settings.chains.map((chain) => [chain.id, chain.rpcUrl]));
  const calls: WalletCall[] = [];
  const whims = new Map<string, Whim[]>();
  let permitted = false;

  const rpcUrl = () => {
    const url = known.get(chainId);
    if (url === undefined) throw new WalletFault(4901, `not connected to chain ${chainId}`);
    return url;
  };
  const shown = () => settings.contract ?? account.address;
  const own = (address: unknown) => {
    if (!permitted || String(address).toLowerCase() !== shown().toLowerCase())
      throw new WalletFault(4100, "The requested account has not been authorised by the user.");
  };
  const goTo = (id: number): InjectedAnswer["events"] => {
    const moved = id !== chainId;
    chainId = id;
    return moved ? [{ name: "chainChanged", data: hexOf(id) }] : [];
  };
  const signTypedData = ([address, text]: unknown[]) => {
    own(address);
    const data = JSON.parse(String(text));
    const { EIP712Domain: _, ...types } = data.types;
    if (Number(data.domain.chainId) !== chainId)
      throw new WalletFault(
        -32603,
        `Provided chainId "${data.domain.chainId}" must match the active chainId "${chainId}"`,
      );
    return account.signTypedData({ ...data, types });
  };
  const send = ([transaction]: unknown[]) => {
    const { from, to, data, value } = transaction as Record<string, Hex>;
    own(from);
    if (settings.contract !== undefined) throw new WalletFault(4200, "This account only signs.");
    const client = createWalletClient({ account, transport: nodeTransport(rpcUrl()) });
    return client.sendTransaction({
      to: to ?? null,
      data: data ?? "0x",
      value: BigInt(value ?? "0x0"),
      chain: null,
    });
  };
  const sign = ([message, address]: unknown[]) => {
    own(address);
    const text = String(message);
    return account.signMessage({ message: isHex(text) ? { raw: text } : text });
  };
  const perform = async ({ method, params }: WalletCall): Promise<InjectedAnswer> => {
    const answer = (result: unknown, events: InjectedAnswer["events"] = []) => ({ result, events });
    const first = params[0] as { chainId?: string; rpcUrls?: string[] } | undefined;
    switch (method) {
      case "eth_chainId":
        return answer(hexOf(chainId));
      case "eth_accounts":
        return answer(permitted ? [shown()] : []);
      case "eth_requestAccounts":
        permitted = true;
        return answer([shown()]);
      case "wallet_switchEthereumChain": {
        const wanted = Number(first?.chainId);
        if (!known.has(wanted)) throw new WalletFault(4902, "Unrecognized chain ID.");
        return answer(null, goTo(wanted));
      }
      case "wallet_addEthereumChain": {
        const [url] = first?.rpcUrls ?? [];
        if (url === undefined) throw new WalletFault(-32602, "Expected an RPC address.");
        const wanted = Number(first?.chainId);
        known.set(wanted, url);
        return answer(null, goTo(wanted));
      }
      case "eth_signTypedData_v4":
        return answer(await signTypedData(params));
      case "eth_sendTransaction":
        return answer(await send(params));
      case "personal_sign":
        return answer(await sign(params));
      case "wallet_revokePermissions":
        permitted = false;
        return answer(null);
      default:
        return answer(await rpc(rpcUrl(), method, params));
    }
  };
  const handle = async (call: WalletCall): Promise<InjectedAnswer> => {
    calls.push(call);
    const whim = whims.get(call.method)?.shift();
    try {
      if (whim?.kind === "refuse") throw new WalletFault(whim.code, whim.message);
      if (whim?.kind === "hold") {
        whim.reached();
        await whim.until;
      }
      if (whim?.kind === "answer") return { result: whim.answer, events: [] };
      const answer = await perform(call);
      if (whim?.kind !== "vanish") return answer;
      permitted = false;
      const error = { code: 4900, message: "The wallet was closed." };
      return { error, events: [{ name: "disconnect", data: error }] };
    } catch (error) {
      const { message } = error as Error;
      const code = error instanceof WalletFault ? error.code : -32603;
      return { error: { code, message }, events: [] };
    }
  };
  const plan = (method: string, whim: Whim) =>
    void whims.set(method, [...(whims.get(method) ?? []), whim]);
  const emit = async (name: string, data: unknown) => {
    for (const page of context.pages())
      await page.evaluate(
        ([binding, detail]) =>
          void window.dispatchEvent(new CustomEvent(`wallet-event:${binding}`, { detail })),
        [info.binding, { name, data }] as const,
      );
  };

  await context.exposeBinding(info.binding, (_source, call: WalletCall) => handle(call));
  await context.addInitScript(announceInPage, info);
  return {
    name: info.name,
    get address() {
      return shown();
    },
    calls,
    count: (method) => calls.filter((call) => call.method === method).length,
    chainId: () => chainId,
    refuseNext: (method, code = 4001, message = "User rejected the request.") =>
      plan(method, { kind: "refuse", code, message }),
    holdNext: (method) => {
      const [reached, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      plan(method, { kind: "hold", reached: reached.resolve, until: end.promise });
      return { reached: reached.promise, release: end.resolve };
    },
    answerNext: (method, answer) => plan(method, { kind: "answer", answer }),
    vanishNext: (method) => plan(method, { kind: "vanish" }),
    moveTo: async (id) => {
      for (const { name, data } of goTo(id)) await emit(name, data);
    },
    changeKey: async (key) => {
      account = privateKeyToAccount(key);
      await emit("accountsChanged", [account.address]);
    },
  };
}
