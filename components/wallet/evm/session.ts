import type { Chain, EIP1193Provider } from "viem";
import { type Config, createConfig, custom } from "wagmi";
import { connect, disconnect } from "wagmi/actions";
import { injected } from "wagmi/connectors/injected";
import type { Eip1193Provider } from "../eip1193.ts";
import { type WalletChain, WalletError, type WalletInfo, type WalletSession } from "../kit.ts";
import { codeOf, walletErrorOf } from "./provider-error.ts";

/** Longest wait for a wallet to be where it said it went. */
const ARRIVE_MS = 5_000;

const PREFIX = "eip155:";

const idOf = (caip2: string): number => Number(caip2.slice(PREFIX.length));

function chainOf({ caip2, name, native, rpcUrl, explorerUrl }: WalletChain): Chain {
  return {
    id: idOf(caip2),
    name,
    nativeCurrency: native,
    rpcUrls: { default: { http: rpcUrl === null ? [] : [rpcUrl] } },
    ...(explorerUrl === null
      ? {}
      : { blockExplorers: { default: { name: "Explorer", url: explorerUrl } } }),
  };
}

/** A wagmi configuration that knows this one wallet and reaches every chain through it alone. */
function configFor(info: WalletInfo, provider: EIP1193Provider, chains: [Chain, ...Chain[]]) {
  return createConfig({
    chains,
    connectors: [
      injected({
        shimDisconnect: false,
        target: { id: info.id, name: info.name, provider: provider as never },
      }),
    ],
    multiInjectedProviderDiscovery: false,
    storage: null,
    transports: Object.fromEntries(chains.map(({ id }) => [id, custom(provider)])),
  });
}

const hexOf = (id: number): string => `0x${id.toString(16)}`;

/** Until the wallet says it is on the chain, or a bounded wait is over; whether it is. */
async function arrived(config: Config, provider: Eip1193Provider, id: number): Promise<boolean> {
  const isThere = async () => Number(await provider.request({ method: "eth_chainId" })) === id;
  if (await isThere()) return true;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, ARRIVE_MS);
    const stop = config.subscribe(
      ({ connections, current }) => connections.get(current ?? "")?.chainId,
      (now) => {
        if (now === id) done();
      },
    );
    function done() {
      clearTimeout(timer);
      stop();
      resolve();
    }
  });
  return isThere();
}

async function addChain(provider: Eip1193Provider, chain: WalletChain): Promise<void> {
  if (chain.rpcUrl === null)
    throw new WalletError("unsupported_chain", `the wallet does not know ${chain.caip2}`);
  const params = [
    {
      chainId: hexOf(idOf(chain.caip2)),
      chainName: chain.name,
      nativeCurrency: chain.native,
      rpcUrls: [chain.rpcUrl],
      ...(chain.explorerUrl === null ? {} : { blockExplorerUrls: [chain.explorerUrl] }),
    },
  ];
  await provider.request({ method: "wallet_addEthereumChain", params });
}

async function goTo(provider: Eip1193Provider, chain: WalletChain): Promise<void> {
  const chainId = hexOf(idOf(chain.caip2));
  const change = () =>
    provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId }] });
  try {
    await change();
  } catch (error) {
    if (codeOf(error) !== 4902) throw error;
    await addChain(provider, chain);
    // Adding need not mean going there.
    const now = await provider.request({ method: "eth_chainId" });
    if (Number(now) !== idOf(chain.caip2)) await change();
  }
}

const addressOf = (caip10: string): string => caip10.slice(caip10.lastIndexOf(":") + 1);

type Listener = (change: "accounts" | "chain" | "gone") => void;

/** Tells what wagmi saw the wallet do. */
function watch(config: Config, listener: Listener): () => void {
  const current = (state: Config["state"]) => state.connections.get(state.current ?? "");
  const stops = [
    config.subscribe(
      (state) => current(state)?.chainId,
      (now, before) => {
        if (now !== undefined && before !== undefined) listener("chain");
      },
    ),
    config.subscribe(
      (state) => current(state)?.accounts.join(),
      (now, before) => {
        if (before !== undefined) listener(now === undefined ? "gone" : "accounts");
      },
    ),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** Asks an EIP-1193 wallet for its accounts. Throws `WalletError`. */
export async function connectEvm(given: {
  info: WalletInfo;
  provider: Eip1193Provider;
  chains: WalletChain[];
}): Promise<WalletSession> {
  const { info, provider } = given;
  const chains = given.chains.filter(({ caip2 }) => caip2.startsWith(PREFIX));
  const [first, ...others] = chains.map(chainOf);
  if (first === undefined) throw new WalletError("unsupported_chain", "no chain of this family");
  const config: Config = configFor(info, provider as EIP1193Provider, [first, ...others]);
  const [connector] = config.connectors;
  if (connector === undefined) throw new WalletError("gone", "wagmi made no connector");
  try {
    await connect(config, { connector });
  } catch (error) {
    throw walletErrorOf(error, { mayHaveLeft: false });
  }
  const stops = new Set<() => void>();
  const addresses = (): string[] => [
    ...(config.state.connections.get(config.state.current ?? "")?.accounts ?? []),
  ];
  if (addresses().length === 0) throw new WalletError("refused", "the wallet gave no account");
  const chain = async () => `${PREFIX}${Number(await provider.request({ method: "eth_chainId" }))}`;
  return {
    wallet: info,
    addresses,
    accounts: (wanted) =>
      wanted
        .filter((one) => one.startsWith(PREFIX))
        .flatMap((one) => addresses().map((address) => `${one}:${address}`)),
    chain: () => chain().catch(() => null),
    switchTo: async (wanted) => {
      const known = chains.find(({ caip2 }) => caip2 === wanted);
      if (known === undefined) throw new WalletError("unsupported_chain", `${wanted} is not ours`);
      try {
        await goTo(provider, known);
      } catch (error) {
        throw walletErrorOf(error, { mayHaveLeft: false });
      }
      if (!(await arrived(config, provider, idOf(wanted))))
        throw new WalletError("wrong_chain", `the wallet did not go to ${wanted}`);
    },
    execute: async ({ chain_id, method, params }, { account }) => {
      const wanted = addressOf(account).toLowerCase();
      if (!addresses().some((address) => address.toLowerCase() === wanted))
        throw new WalletError("gone", `the wallet no longer gives ${account}`);
      const now = method === "personal_sign" ? chain_id : await chain().catch(() => null);
      if (now !== chain_id)
        throw new WalletError("wrong_chain", `the wallet is not on ${chain_id}`);
      try {
        return await provider.request({ method, params });
      } catch (error) {
        throw walletErrorOf(error, { mayHaveLeft: method === "eth_sendTransaction" });
      }
    },
    onChange: (listener) => {
      const stop = watch(config, listener);
      stops.add(stop);
      return stop;
    },
    disconnect: async () => {
      for (const stop of stops) stop();
      await disconnect(config).catch(() => undefined);
    },
  };
}
