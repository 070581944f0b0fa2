import { expect, test } from "vitest";
import { readSettings, Unusable } from "./settings.ts";

const DATABASE_URL = "postgresql://nobody@127.0.0.1:1/none";
const FLORIN_RPC_8453 = "http://127.0.0.1:1";
const read = (more: Record<string, string> = {}) =>
  readSettings({ DATABASE_URL, FLORIN_RPC_8453, ...more });

// Guarantee: what the server takes for its default is the default here.
test("a batch setting that is set to nothing", () => {
  for (const text of ["", " "])
    expect(read({ FLORIN_SETTLEMENT_BATCH_S: text }).batchS).toBe(read().batchS);
  expect(read().batchS).toBe(3_600);
  expect(read({ FLORIN_SETTLEMENT_BATCH_S: "15" }).batchS).toBe(15);
  expect(() => read({ FLORIN_SETTLEMENT_BATCH_S: "soon" })).toThrow(Unusable);
});

// Guarantee: quotes on a chain whose node is not at hand are checked all the same.
test("decimals of chains without a node", () => {
  const { nodes, decimals } = read();
  expect([...nodes.keys()]).toEqual(["eip155:8453"]);
  expect(new Set([...decimals.keys()].map((asset) => asset.split("/")[0])).size).toBeGreaterThan(1);
});
