import { describe, expect, test } from "vitest";
import { type BridgeHost, hasBridge, type Outcome, tellWallet } from "./bridge.ts";

const GOOD: Outcome = { type: "IC_COMPLETE", success: true };
const BAD: Outcome = { type: "IC_ERROR", error: "too late" };

/** A window in which every bridge exists and writes down what it hears. */
function everywhere(): { host: BridgeHost; heard: unknown[][] } {
  const heard: unknown[][] = [];
  const receiver = (name: string) => ({
    postMessage: (...said: unknown[]) => heard.push([name, ...said]),
  });
  const host: BridgeHost = {
    AndroidWallet: {
      onDataCollectionComplete: (...said: unknown[]) => heard.push(["android", ...said]),
    },
    webkit: { messageHandlers: { payDataCollectionComplete: receiver("webkit") } },
    ReactNativeWebView: receiver("native"),
    opener: receiver("opener"),
    parent: receiver("parent"),
  };
  return { host, heard };
}

// Guarantee: each bridge hears the outcome in the form its platform reads, once.
test.for([GOOD, BAD])("every bridge hears $type", (outcome) => {
  const { host, heard } = everywhere();
  expect(tellWallet(host, outcome)).toBe(true);
  expect(heard).toEqual([
    ["android", JSON.stringify(outcome)],
    ["webkit", outcome],
    ["native", JSON.stringify(outcome)],
    ["opener", outcome, "*"],
    ["parent", outcome, "*"],
  ]);
});

// Guarantee: after the first outcome a page is silent, whatever happens on it.
test("one outcome in the life of a page", () => {
  const { host, heard } = everywhere();
  tellWallet(host, BAD);
  expect(tellWallet(host, GOOD)).toBe(false);
  expect(tellWallet(host, BAD)).toBe(false);
  expect(heard).toHaveLength(5);
  const other = everywhere();
  expect(tellWallet(other.host, GOOD)).toBe(true);
  expect(other.heard).toHaveLength(5);
});

// Guarantee: a bridge that throws, or may not even be looked at, keeps no other from hearing the outcome.
test("bridges that throw", () => {
  const { host, heard } = everywhere();
  const broken = () => {
    throw new Error("broken");
  };
  Object.assign(host.AndroidWallet ?? {}, { onDataCollectionComplete: broken });
  Object.assign(host.ReactNativeWebView ?? {}, { postMessage: broken });
  Object.defineProperty(host, "opener", { get: broken });
  expect(tellWallet(host, GOOD)).toBe(true);
  expect(heard.map(([name]) => name)).toEqual(["webkit", "parent"]);
});

describe("whether anybody listens", () => {
  const alone = (): BridgeHost => {
    const host: BridgeHost = { opener: null };
    host.parent = host;
    return host;
  };

  // Guarantee: a page of its own has no bridge, and a window is not its own listener.
  test("nobody", () => {
    const host = alone();
    const heard: unknown[] = [];
    Object.assign(host, { postMessage: (said: unknown) => heard.push(said) });
    expect(hasBridge(host)).toBe(false);
    expect(tellWallet(host, GOOD)).toBe(true);
    expect(heard).toEqual([]);
    expect(hasBridge({ ...alone(), AndroidWallet: {}, webkit: { messageHandlers: {} } })).toBe(
      false,
    );
  });

  // Guarantee: one bridge is enough, and a window reached in two ways hears it once.
  test("somebody", () => {
    const heard: unknown[] = [];
    const both = { postMessage: (said: unknown) => heard.push(said) };
    const host = { opener: both, parent: both };
    expect(hasBridge(host)).toBe(true);
    tellWallet(host, GOOD);
    expect(heard).toEqual([GOOD]);
  });
});
