/** A wallet as EIP-1193 has it; what it answers is not to be trusted in shape. */
export type Eip1193Provider = {
  request(call: { method: string; params?: unknown }): Promise<unknown>;
  on(event: string, listener: (...given: never[]) => void): unknown;
  removeListener(event: string, listener: (...given: never[]) => void): unknown;
};

/** A wallet that announced itself as EIP-6963 has it. */
export type Announced = { uuid: string; rdns: string; name: string; icon: string | null } & {
  provider: Eip1193Provider;
};

const textOf = (value: unknown, longest: number): string | null =>
  typeof value === "string" && value.trim() !== "" ? value.trim().slice(0, longest) : null;

/** A picture a page may show without asking anybody for it; null for anything else. */
export const iconOf = (value: unknown): string | null =>
  typeof value === "string" && /^data:image\/(png|jpe?g|gif|webp|avif|svg\+xml)[;,]/i.test(value)
    ? value.trim()
    : null;

function isProvider(value: unknown): value is Eip1193Provider {
  return (
    typeof value === "object" &&
    value !== null &&
    "request" in value &&
    typeof value.request === "function" &&
    "on" in value &&
    typeof value.on === "function"
  );
}

function readAnnouncement(event: Event): Announced | null {
  const detail: unknown = "detail" in event ? event.detail : null;
  if (typeof detail !== "object" || detail === null) return null;
  const { info, provider } = detail as { info?: Record<string, unknown>; provider?: unknown };
  const uuid = textOf(info?.uuid, 100);
  const name = textOf(info?.name, 60);
  if (uuid === null || name === null || !isProvider(provider)) return null;
  return { uuid, name, rdns: textOf(info?.rdns, 200) ?? uuid, icon: iconOf(info?.icon), provider };
}

/**
 * Listens for EIP-6963 wallets and asks those already there to come forward; returns the way to stop. One that announces itself again
 * is told once.
 */
export function listenForAnnounced(found: (wallet: Announced) => void): () => void {
  const seen = new Set<string>();
  const listener = (event: Event) => {
    const wallet = readAnnouncement(event);
    if (wallet === null || seen.has(wallet.uuid)) return;
    seen.add(wallet.uuid);
    found(wallet);
  };
  window.addEventListener("eip6963:announceProvider", listener);
  window.dispatchEvent(new Event("eip6963:requestProvider"));
  return () => window.removeEventListener("eip6963:announceProvider", listener);
}

/** The one wallet of browsers that know no EIP-6963, such as older in-app ones; null: there is none. */
export function legacyProvider(): Eip1193Provider | null {
  const { ethereum } = window as { ethereum?: unknown };
  return isProvider(ethereum) ? ethereum : null;
}
