import { keccak256 } from "viem";
import { expect, test } from "vitest";
import { ChainUnavailable } from "#server/ports/chain.ts";
import { broadcast } from "./broadcast.ts";
import { type Rpc, RpcRefusal } from "./rpc.ts";

const RAW = Uint8Array.of(2, 1, 2, 3);
const HASH = keccak256(RAW);
const ok: PromiseSettledResult<unknown> = { status: "fulfilled", value: HASH };
const said = (message: string): PromiseSettledResult<unknown> => ({
  status: "rejected",
  reason: new RpcRefusal(-32000, message, null),
});
const silent: PromiseSettledResult<unknown> = {
  status: "rejected",
  reason: new ChainUnavailable("a node did not answer"),
};

const outcome = (answers: PromiseSettledResult<unknown>[]) =>
  broadcast({ everywhere: async () => answers } as unknown as Rpc, RAW);

// Guarantee: one node that has the bytes is enough, and as long as one may have them nothing is taken for refused.
test.for([
  ["accepted", [said("nonce too low"), ok]],
  ["already_known", [silent, said("already known")]],
  ["unknown", [said("nonce too low"), silent]],
  ["unknown", [said("insufficient funds for gas"), silent]],
  ["nonce_too_low", [said("txpool is full"), said("nonce too low")]],
  ["underpriced", [said("insufficient funds"), said("replacement transaction underpriced")]],
  ["insufficient_funds", [said("insufficient funds"), said("what?")]],
  ["rejected", [said("what?")]],
  ["unknown", []],
] as const)("%s", async ([kind, answers]) => {
  expect((await outcome([...answers])).kind).toBe(kind);
});

// Guarantee: an answer counts as taken only when it names the hash of exactly these bytes.
test("an answer without our hash is no answer", async () => {
  const strange = (value: unknown) => outcome([{ status: "fulfilled", value }]);
  expect((await strange(null)).kind).toBe("unknown");
  expect((await strange(`0x${"11".repeat(32)}`)).kind).toBe("unknown");
});
