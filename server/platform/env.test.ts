import { expect, test } from "vitest";
import { EnvError, readEnv } from "./env.ts";

const key = (digit: string) => `0x${digit.repeat(64)}`;
const GOOD = {
  DATABASE_URL: "postgresql://a:b@127.0.0.1:5432/florin",
  FLORIN_KEY_PEPPER: "p".repeat(32),
  FLORIN_TOKEN_SECRET: "t".repeat(32),
  FLORIN_DATA_SECRET: "d".repeat(32),
  FLORIN_INTERMEDIARY_KEY_EVM: key("1"),
  FLORIN_RPC_8453: "https://one.example, https://two.example",
  FLORIN_RELAYER_KEYS_8453: `${key("2")},${key("3")}`,
  FLORIN_PERMIT2_SPENDER_KEY_8453: key("4"),
};

const problemsOf = (source: Record<string, string | undefined>): string[] => {
  try {
    readEnv(source);
    return [];
  } catch (error) {
    if (error instanceof EnvError) return error.problems;
    throw error;
  }
};

// Guarantee: the shipped registry is off until a chain is configured, and then that chain alone is on.
test("a chain is on once its RPC URL is set", () => {
  const env = readEnv({ ...GOOD, PORT: "8080" });
  expect(env.chains.map(({ entry }) => entry.caip2)).toEqual(["eip155:8453"]);
  expect(env.chains[0]?.rpcUrls).toEqual(["https://one.example", "https://two.example"]);
  expect([env.baseUrl, env.payHost]).toEqual(["http://127.0.0.1:8080", "127.0.0.1:8080"]);
});

// Guarantee: an operator fixes a configuration in one go, not one message at a time.
test("every problem is told at once", () => {
  const problems = problemsOf({ FLORIN_MODE: "live", FAILPOINT: "x:exit", PORT: "99999" }).join(
    "\n",
  );
  for (const part of [
    "DATABASE_URL: is missing",
    "FLORIN_KEY_PEPPER: is missing",
    "FLORIN_INTERMEDIARY_KEY_EVM: is missing",
    "PORT:",
    "no chain of the registry is configured",
    "FAILPOINT: refused in live mode",
  ])
    expect(problems).toContain(part);
});

// Guarantee: no key serves two roles, whatever its spelling.
test.for([
  ["a relayer as intermediary", { FLORIN_RELAYER_KEYS_8453: key("1") }, "different keys"],
  ["the spender as relayer", { FLORIN_PERMIT2_SPENDER_KEY_8453: key("2") }, "different keys"],
  ["a missing relayer", { FLORIN_RELAYER_KEYS_8453: "" }, "FLORIN_RELAYER_KEYS_8453"],
  ["a missing spender", { FLORIN_PERMIT2_SPENDER_KEY_8453: "" }, "FLORIN_PERMIT2_SPENDER_KEY_8453"],
  ["a live chain in the sandbox", { FLORIN_MODE: "sandbox" }, "cannot run in sandbox mode"],
  [
    "a registry that is not there",
    { FLORIN_REGISTRY_FILE: "/nowhere.json" },
    "FLORIN_REGISTRY_FILE",
  ],
] as const)("refused: %s", ([, change, message]) => {
  expect(problemsOf({ ...GOOD, ...change }).join("\n")).toContain(message);
});
