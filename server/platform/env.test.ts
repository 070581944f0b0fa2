import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { EnvError, readEnv } from "./env.ts";
import type { Registry } from "./registry.ts";
import { SHIPPED_REGISTRY } from "./registry-shipped.ts";

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

// Guarantee: the links a server hands out begin with an address that a browser can open, whatever is listened on.
test.for([
  [{ HOST: "::" }, "http://[::]:3000", "[::]:3000"],
  [{ HOST: "::1", PORT: "0" }, "http://[::1]:0", "[::1]:0"],
  [{ HOST: "florin_api" }, "http://florin_api:3000", "florin_api:3000"],
  [{ HOST: "::", FLORIN_BASE_URL: "https://A.example/" }, "https://a.example", "a.example"],
  [{ FLORIN_BASE_URL: "https://a.example:443" }, "https://a.example", "a.example"],
  [{ FLORIN_BASE_URL: "http://[::1]:80/" }, "http://[::1]", "[::1]"],
] as [Record<string, string>, string, string][])("%j", ([change, baseUrl, payHost]) => {
  const env = readEnv({ ...GOOD, ...change });
  expect([env.baseUrl, env.checkoutUrl, env.payHost]).toEqual([baseUrl, baseUrl, payHost]);
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

const ORDER = "0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";

// Guarantee: a setting that could only do harm, or nothing, stops the start with one line that says which.
test.for([
  ["one secret for two uses", { FLORIN_TOKEN_SECRET: GOOD.FLORIN_KEY_PEPPER }, /different secrets/],
  ["a secret of white space", { FLORIN_DATA_SECRET: `a${" ".repeat(40)}b` }, /FLORIN_DATA_SECRET/],
  [
    "a mode with a space",
    { FLORIN_MODE: "live " },
    /^FLORIN_MODE: begins or ends with white space$/,
  ],
  ["a base URL of FTP", { FLORIN_BASE_URL: "ftp://a.example" }, /FLORIN_BASE_URL: .*http/],
  [
    "a base URL with a path",
    { FLORIN_BASE_URL: "https://a.example/b" },
    /FLORIN_BASE_URL: .*origin/,
  ],
  ["a base URL with an empty query", { FLORIN_BASE_URL: "https://a.example/?" }, /_URL: .*origin/],
  [
    "a checkout with an empty part",
    { FLORIN_CHECKOUT_URL: "https://a.example#" },
    /_URL: .*origin/,
  ],
  [
    "a base URL with a password",
    { FLORIN_BASE_URL: "https://:hunter2@a.example" },
    /^FLORIN_BASE_URL: must be an origin, such as https:\/\/pay\.example\.com$/,
  ],
  ["a host that is an address", { HOST: "http://127.0.0.1" }, /^HOST: must be a host name/],
  ["a host with a port", { HOST: "127.0.0.1:80" }, /^HOST: must be a host name/],
  ["a host with a space", { HOST: "a b" }, /^HOST: must be a host name/],
  ["a host in brackets", { HOST: "[::1]" }, /^HOST: must be a host name .* without brackets/],
  ["a host that is no number", { HOST: "256.0.0.1" }, /^HOST: must be a host name/],
  ["a checkout that is a program", { FLORIN_CHECKOUT_URL: "javascript:alert(1)" }, /CHECKOUT_URL/],
  ["a host with a scheme", { FLORIN_PAY_HOST: "https://a.example" }, /FLORIN_PAY_HOST: .*host/],
  ["a node of FTP", { FLORIN_RPC_8453: "https://a.example,ftp://b.example" }, /FLORIN_RPC_8453/],
  ["no amount between the limits", { FLORIN_MIN_PAYMENT_CENTS: "20000000" }, /MIN_PAYMENT_CENTS/],
  ["a chain nobody has", { FLORIN_RPC_845: "https://a.example" }, /RPC_845: .* no chain 845/],
  ["a slip in a name", { FLORIN_WORKERS: "off" }, /FLORIN_WORKERS: .* mean FLORIN_WORKER\?/],
  ["a slip in a chain's", { FLORIN_RCP_10: "x" }, /FLORIN_RCP_10: .* mean FLORIN_RPC_10\?/],
  ["a name nobody knows", { FLORIN_COLOUR_OF_THE_SKY: "x" }, /SKY: is no setting$/],
  ["the key zero", { FLORIN_INTERMEDIARY_KEY_EVM: key("0") }, /INTERMEDIARY_KEY_EVM: must be 0x/],
  ["a key beyond the order", { FLORIN_RELAYER_KEYS_8453: ORDER }, /RELAYER_KEYS_8453: not a key/],
  ["a spender beyond it", { FLORIN_PERMIT2_SPENDER_KEY_8453: key("f") }, /SPENDER_KEY_8453/],
  [
    "halves of two Solana keys",
    { FLORIN_INTERMEDIARY_KEY_SOLANA: "2".repeat(86) },
    /INTERMEDIARY_KEY_SOLANA: must be 64 bytes/,
  ],
] as [string, Record<string, string>, RegExp][])("refused: %s", ([, change, message]) => {
  const problems = problemsOf({ ...GOOD, ...change });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(message);
  // No line gives a key away.
  for (const value of Object.values(change))
    if (value.startsWith("0x")) expect(problems[0]).not.toContain(value.slice(2, 20));
});

// Guarantee: what the test runner tells its programs, and what is empty, is no slip.
test("names that stay", () => {
  expect(problemsOf({ ...GOOD, FLORIN_TEST_SEED: "1", FLORIN_NOTHING: "" })).toEqual([]);
});

const [first] = SHIPPED_REGISTRY.chains;
const [cluster] = SHIPPED_REGISTRY.solana;
if (first === undefined || cluster === undefined) throw new Error("the shipped registry is empty");
const lowered = first.tokens.map((token) => ({ ...token, address: token.address.toLowerCase() }));

// Guarantee: a registry that has a chain or a token twice is refused: which of the two counts would be anybody's guess.
test.for([
  [
    "a chain",
    { chains: [...SHIPPED_REGISTRY.chains, first] },
    /^FLORIN_REGISTRY_FILE: eip155:1 is listed twice$/,
  ],
  [
    "a token in another spelling",
    { chains: [{ ...first, tokens: [...first.tokens, ...lowered.slice(0, 1)] }] },
    /eip155:1\/erc20:0x\w+ is listed twice/,
  ],
  ["a cluster", { solana: [cluster, cluster] }, /solana:\w+ is listed twice/],
] as [string, Partial<Registry>, RegExp][])("listed twice: %s", ([, change, message]) => {
  const dir = mkdtempSync(join(tmpdir(), "florin-env-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const FLORIN_REGISTRY_FILE = join(dir, "registry.json");
  writeFileSync(FLORIN_REGISTRY_FILE, JSON.stringify({ ...SHIPPED_REGISTRY, ...change }));
  const problems = problemsOf({ ...GOOD, FLORIN_REGISTRY_FILE });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(message);
});
