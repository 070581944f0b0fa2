import {
  type Asked,
  LATE_S,
  type Personality,
  type SandboxWalletControls,
  type SandboxWalletView,
} from "./personality.ts";
import { ProviderFault } from "./provider-fault.ts";

/** The wallet's side of its window. */
export type WalletWindow = {
  controls: SandboxWalletControls;
  show(change: Partial<SandboxWalletView>): void;
  /**
   * Asks the person before the window and then does it, as the personality chosen has it; throws `ProviderFault` where they refuse, and
   * where the wallet is closed after it was done.
   */
  perform<T>(asked: Asked, act: (personality: Personality) => Promise<T>): Promise<T>;
};

const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** Makes the window of a wallet, as data; `sandbox-panel.tsx` draws it. `onClosed` is told when the wallet was closed half way. */
export function createWalletWindow(
  start: Pick<SandboxWalletView, "address" | "network" | "personality">,
  told: { onChosen(personality: Personality): void; onClosed(fault: ProviderFault): void },
): WalletWindow {
  const listeners = new Set<() => void>();
  let view: SandboxWalletView = { ...start, asked: null, note: null };
  let answer: ((approved: boolean) => void) | null = null;

  const show = (change: Partial<SandboxWalletView>) => {
    view = { ...view, ...change };
    for (const listener of [...listeners]) listener();
  };
  const ask = async (asked: Asked): Promise<boolean> => {
    if (view.personality === "automatic") return true;
    if (view.personality === "refuses") return false;
    if (answer !== null) throw new ProviderFault(-32002, "Another request is open already.");
    const approved = await new Promise<boolean>((resolve) => {
      answer = resolve;
      show({ asked, note: null });
    });
    answer = null;
    show({ asked: null });
    return approved;
  };
  return {
    show,
    perform: async (asked, act) => {
      if (!(await ask(asked))) {
        show({ note: `${asked.title}: refused` });
        throw new ProviderFault(4001, "User rejected the request.");
      }
      const { personality } = view;
      if (personality === "late") {
        show({ note: `${asked.title}: answers in ${LATE_S} seconds` });
        await pause(LATE_S);
      }
      show({ note: `${asked.title}: working` });
      const result = await act(personality);
      if (personality === "closes") {
        show({ note: `${asked.title}: done, and the wallet was closed before it answered` });
        const fault = new ProviderFault(4900, "The wallet was closed.");
        told.onClosed(fault);
        throw fault;
      }
      show({ note: `${asked.title}: done` });
      return result;
    },
    controls: {
      view: () => view,
      subscribe: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      answer: (approved) => answer?.(approved),
      choose: (personality) => {
        told.onChosen(personality);
        show({ personality });
      },
    },
  };
}
