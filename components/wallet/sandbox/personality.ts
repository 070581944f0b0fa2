/** The name under which the Solana one registers; the finder shows an entry of its own for it. */
export const SOLANA_SANDBOX_NAME = "Florin sandbox wallet";

/** How the sandbox wallet behaves when it is asked to sign. */
export const PERSONALITIES = [
  { id: "asks", name: "Asks, then signs" },
  { id: "automatic", name: "Signs without asking" },
  { id: "refuses", name: "Refuses" },
  { id: "late", name: "Signs late" },
  { id: "wrong_chain", name: "Signs for the wrong network" },
  { id: "closes", name: "Closes half way" },
] as const;

export type Personality = (typeof PERSONALITIES)[number]["id"];

/** Seconds the wallet that signs late takes after it was approved. */
export const LATE_S = 15;

/** A call the wallet shows before it does it. */
export type Asked = {
  title: string;
  /** What is signed or sent, in the order to show it. */
  facts: { name: string; value: string }[];
  /** The whole of it, as the page handed it in. */
  raw: string;
};

/** What the wallet shows; `asked` null: nothing waits for an answer. */
export type SandboxWalletView = {
  address: string;
  network: string;
  personality: Personality;
  asked: Asked | null;
  /** What it does or did last, in one line; null: nothing yet. */
  note: string | null;
};

/** The wallet as its panel handles it. */
export type SandboxWalletControls = {
  view(): SandboxWalletView;
  subscribe(listener: () => void): () => void;
  answer(approved: boolean): void;
  choose(personality: Personality): void;
};
