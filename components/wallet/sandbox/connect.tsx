import { createRoot } from "react-dom/client";
import { connectEvm } from "../evm/session.ts";
import type { WalletChain, WalletInfo, WalletSession } from "../kit.ts";
import { SandboxPanel } from "../sandbox-panel.tsx";
import type { SandboxDoor } from "./door.ts";
import type { createSolanaSandboxWallet } from "./solana-wallet.ts";
import { createSandboxWallet } from "./wallet.ts";

/** Takes away the window of the wallet before this one; a tab has one sandbox wallet. */
let closeLast: () => void = () => undefined;

/** A tab registers its Solana wallet once; the adapter would list it again each time. */
let solana: ReturnType<typeof createSolanaSandboxWallet> | null = null;

async function makeWallet(given: { info: WalletInfo; chains: WalletChain[]; door: SandboxDoor }) {
  const { info, chains, door } = given;
  if (info.family === "eip155") {
    const { provider, controls } = createSandboxWallet({ door, chains });
    return { controls, connect: () => connectEvm({ info, provider, chains }) };
  }
  const { connectSolana } = await import("../solana/session.tsx");
  const { createSolanaSandboxWallet: create } = await import("./solana-wallet.ts");
  solana ??= create(door);
  const { wallet, controls } = await solana;
  return { controls, connect: () => connectSolana({ info, wallet }) };
}

/** Makes or recalls the tab's sandbox wallet, shows its panel and connects to it as to any other wallet. Throws `WalletError`. */
export async function connectSandbox(given: {
  info: WalletInfo;
  chains: WalletChain[];
  door: SandboxDoor;
}): Promise<WalletSession> {
  const { controls, connect } = await makeWallet(given);
  closeLast();
  const place = document.createElement("div");
  document.body.append(place);
  const root = createRoot(place);
  const close = () => {
    closeLast = () => undefined;
    root.unmount();
    place.remove();
  };
  root.render(<SandboxPanel wallet={controls} />);
  closeLast = close;
  try {
    const session = await connect();
    return {
      ...session,
      disconnect: async () => {
        await session.disconnect();
        close();
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}
