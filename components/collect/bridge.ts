/** What the page says to the wallet that shows it. */
export type Outcome = { type: "IC_COMPLETE"; success: true } | { type: "IC_ERROR"; error: string };

type Receiver = { postMessage(message: unknown, targetOrigin?: string): void };

/** The parts of a window a wallet may be reached through; each may be absent. */
export type BridgeHost = {
  AndroidWallet?: { onDataCollectionComplete?(json: string): void } | undefined;
  webkit?: { messageHandlers?: { payDataCollectionComplete?: Receiver } | undefined } | undefined;
  ReactNativeWebView?: Receiver | undefined;
  opener?: unknown;
  parent?: unknown;
};

type Way = (outcome: Outcome) => void;

/** What a property holds; a host may forbid even looking. */
function read<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

const isReceiver = (value: unknown): value is Receiver =>
  typeof value === "object" && value !== null && "postMessage" in value;

/** The windows that opened or frame this one, each once. */
function windowsAround(host: BridgeHost): Receiver[] {
  const around = [read(() => host.opener), read(() => host.parent)].filter(isReceiver);
  return [...new Set(around)].filter((one) => one !== host);
}

/** One way for each bridge that exists. The message holds nothing of a buyer, so any origin may hear it. */
function waysOf(host: BridgeHost): Way[] {
  const ways: Way[] = [];
  const android = read(() => host.AndroidWallet);
  if (android && typeof read(() => android.onDataCollectionComplete) === "function")
    ways.push((outcome) => android.onDataCollectionComplete?.(JSON.stringify(outcome)));
  const apple = read(() => host.webkit?.messageHandlers?.payDataCollectionComplete);
  if (apple) ways.push((outcome) => apple.postMessage(outcome));
  const native = read(() => host.ReactNativeWebView);
  if (native) ways.push((outcome) => native.postMessage(JSON.stringify(outcome)));
  for (const other of windowsAround(host)) ways.push((outcome) => other.postMessage(outcome, "*"));
  return ways;
}

const told = new WeakSet<BridgeHost>();

/** Whether anybody would hear the outcome; a page nobody listens to must say itself what comes next. */
export const hasBridge = (host: BridgeHost): boolean => waysOf(host).length > 0;

/**
 * Tells the wallet how it ended, through every bridge there is. The first call in a window's life speaks, every later
 * one is silent and returns false. A bridge that throws does not keep the others from hearing it.
 */
export function tellWallet(host: BridgeHost, outcome: Outcome): boolean {
  if (told.has(host)) return false;
  told.add(host);
  for (const way of waysOf(host)) read(() => way(outcome));
  return true;
}
