import { privateKeyToAccount } from "viem/accounts";
import type { Eip1193Provider } from "../eip1193.ts";
import { type WalletChain, WalletError } from "../kit.ts";
import type { Transaction } from "./describe.ts";
import type { SandboxDoor } from "./door.ts";
import { recall, remember } from "./keys.ts";
import type { SandboxWalletControls } from "./personality.ts";
import { ProviderFault } from "./provider-fault.ts";
import { send, signMessage, signTypedData } from "./sign.ts";
import { createWalletWindow } from "./window.ts";

type Listener = (...given: unknown[]) => void;

/** Listeners by event, as a provider has them. */
function createEvents() {
  const events = new Map<string, Set<Listener>>();
  return {
    emit: (event: string, data: unknown) => {
      for (const listener of [...(events.get(event) ?? [])]) listener(data);
    },
    on: (event: string, listener: Listener) =>
      void events.set(event, (events.get(event) ?? new Set()).add(listener)),
    removeListener: (event: string, listener: Listener) => events.get(event)?.delete(listener),
  };
}

const numberOf = (caip2: string): number => Number(caip2.slice(caip2.indexOf(":") + 1));

/** The chains it knows and the one it is on; it begins on the first. */
function createNetworks(all: WalletChain[]) {
  const chains = all.filter(({ caip2 }) => caip2.startsWith("eip155:"));
  const [first] = chains;
  if (first === undefined) throw new WalletError("unsupported_chain", "no chain of this family");
  let current = first;
  return {
    current: () => current,
    id: () => `0x${numberOf(current.caip2).toString(16)}`,
    other: () => chains.find(({ caip2 }) => caip2 !== current.caip2)?.caip2 ?? null,
    /** Whether that changed anything. */
    goTo: (id: unknown): boolean => {
      const found = chains.find(({ caip2 }) => numberOf(caip2) === Number(id));
      if (found === undefined) throw new ProviderFault(4902, "Unrecognized chain ID.");
      const changed = found !== current;
      current = found;
      return changed;
    },
  };
}

/**
 * Makes the tab's sandbox wallet: an EIP-1193 provider with a key of its own that signs for real, and a choice of ways to behave. Good
 * for the sandbox alone.
 */
export function createSandboxWallet(given: { door: SandboxDoor; chains: WalletChain[] }): {
  provider: Eip1193Provider;
  controls: SandboxWalletControls;
} {
  const { door } = given;
  const memory = recall();
  const account = privateKeyToAccount(memory.eip155.key);
  const { address } = account;
  const networks = createNetworks(given.chains);
  const events = createEvents();
  let open = false;
  const { personality } = memory;
  const window = createWalletWindow(
    { address, network: networks.current().name, personality },
    {
      onChosen: (chosen) => {
        memory.personality = chosen;
        remember(memory);
      },
      onClosed: (fault) => {
        open = false;
        events.emit("disconnect", fault);
      },
    },
  );
  const signer = { account, window };
  const methods: Record<string, (params: unknown[]) => unknown> = {
    eth_chainId: () => networks.id(),
    eth_accounts: () => (open ? [address] : []),
    eth_requestAccounts: async () => {
      if (!memory.eip155.funded) {
        window.show({ note: "Asking for test money" });
        await door.fund({ address, family: "eip155" });
        memory.eip155.funded = true;
        window.show({ note: "Test money arrived" });
      }
      remember(memory);
      open = true;
      return [address];
    },
    wallet_switchEthereumChain: ([wanted]) => {
      if (!networks.goTo((wanted as { chainId?: unknown } | undefined)?.chainId)) return null;
      window.show({ network: networks.current().name });
      events.emit("chainChanged", networks.id());
      return null;
    },
    eth_signTypedData_v4: ([, data]) => signTypedData(signer, data),
    personal_sign: ([message]) => signMessage(signer, message),
    eth_sendTransaction: ([transaction]) =>
      send(signer, transaction as Transaction, {
        door,
        chain: networks.current().caip2,
        other: networks.other(),
      }),
  };
  return {
    provider: {
      on: events.on as Eip1193Provider["on"],
      removeListener: events.removeListener as Eip1193Provider["removeListener"],
      request: async ({ method, params }) => {
        const run = Object.hasOwn(methods, method) ? methods[method] : undefined;
        if (run === undefined) throw new ProviderFault(4200, `${method} is not known here.`);
        return run(Array.isArray(params) ? params : []);
      },
    },
    controls: window.controls,
  };
}
