import {
  encodeFunctionData,
  erc20Abi,
  recoverMessageAddress,
  recoverTypedDataAddress,
  stringToHex,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { describe, expect, test } from "vitest";
import type { PaymentOption, WalletRpc } from "#server/client/wallet/shapes.ts";
import { COLLECT_SCHEMA } from "#server/domain/collect/form.ts";
import { fromWallet, validateCollected } from "#server/domain/collect/validate.ts";
import { numberAccounts, pickAccounts, readArguments } from "./pay-arguments.ts";
import { linkProblem, pickOption, readSandboxLink } from "./pay-choice.ts";
import { createSandboxExecutors } from "./pay-executors.ts";
import { fillForm } from "./pay-form.ts";
import { adviceInWords } from "./pay-report.ts";
import { actionInWords, durationInWords, optionTable } from "./pay-words.ts";
import { plain } from "./plain.ts";
import { readSandbox, type Sandbox } from "./sandbox-file.ts";

const KEY = generatePrivateKey();
const { address: PAYER } = privateKeyToAccount(KEY);
/** The sandbox has its key too, and the buyer did not choose it. */
const OTHER_KEY = generatePrivateKey();
const { address: OTHER } = privateKeyToAccount(OTHER_KEY);
const USDC = "0x00000000000000000000000000000000000000c1";
const SHOP = "0x00000000000000000000000000000000000000d1";
const CHAIN = "eip155:31337";

const sandbox: Sandbox = {
  baseUrl: "http://127.0.0.1:3000",
  checkoutUrl: "http://127.0.0.1:3000",
  merchant: { id: "mer_1", apiKey: "sk_test_1", flow: "intermediary" },
  merchants: [],
  gateway: { apiKey: "gk_test_1" },
  chains: [
    {
      caip2: CHAIN,
      rpcUrl: "http://127.0.0.1:1",
      tokens: [
        {
          symbol: "USDC",
          caip19: `${CHAIN}/erc20:${USDC}`,
          address: USDC,
          decimals: 6,
          mechanism: "eip3009",
        },
      ],
    },
  ],
  accounts: [
    { caip10: `eip155:31337:${PAYER}`, privateKey: KEY, holds: "USDC" },
    { caip10: `eip155:31338:${PAYER}`, privateKey: KEY, holds: "USDT" },
    { caip10: `eip155:31337:${OTHER}`, privateKey: OTHER_KEY, holds: "-" },
  ],
};

const option = (id: string, assetSymbol: string, chain: string): PaymentOption => ({
  id,
  account: `${chain}:${PAYER}`,
  amount: {
    unit: `caip19/${chain}/erc20:${USDC}`,
    value: "12500000",
    display: {
      assetName: assetSymbol,
      assetSymbol,
      decimals: 6,
      iconUrl: null,
      networkIconUrl: null,
      networkName: "Sandbox One",
    },
  },
  etaS: 1,
  expiresAt: null,
  actions: [],
  collectData: null,
});
const OPTIONS = [
  option("opt_a", "USDT", "eip155:31337"),
  option("opt_b", "USDC", "eip155:31337"),
  option("opt_c", "USDC", "eip155:31338"),
];

// Guarantee: the option that is taken is the one that was asked for, and nothing is guessed.
test.for([
  [null, "opt_a"],
  ["2", "opt_b"],
  ["opt_c", "opt_c"],
  ["usdc", "opt_b"],
  ["USDC@31338", "opt_c"],
  ["USDC@eip155:31338", "opt_c"],
  ["0", undefined],
  ["4", undefined],
  ["USDC@1338", undefined],
  ["USDT@31338", undefined],
  ["USDC@31338@1", undefined],
  ["", undefined],
  ["EURC", undefined],
] as const)("--option %j takes %j", ([wanted, id]) => {
  expect(pickOption(OPTIONS, wanted)?.id).toBe(id);
});

// Guarantee: an account is meant by its number, its address on every chain, or its whole name.
test.for([
  [null, [0, 1, 2]],
  ["1", [1]],
  [PAYER, [0, 1]],
  [PAYER.toLowerCase(), [0, 1]],
  [`eip155:31338:${PAYER.toLowerCase()}`, [1]],
  ["3", []],
  ["31337", []],
  ["0x", []],
  ["", []],
] as const)("--account %s means %j", ([wanted, numbers]) => {
  expect(pickAccounts(sandbox, wanted).map(({ number }) => number)).toEqual(numbers);
});

// Guarantee: only links of this sandbox are followed; on this machine's own names they are the same.
test("links of the sandbox", () => {
  const read = (text: string) => readSandboxLink(sandbox, text);
  for (const link of ["pay_1", "http://127.0.0.1:3000/pay_1", "http://localhost:3000/?pid=pay_1"])
    expect(read(link)).toMatchObject({ kind: "payment", paymentId: "pay_1" });
  const foreign = read("https://pay.example.com/pay_1");
  expect(linkProblem(sandbox, foreign)).toContain("not on 127.0.0.1:3000");
  expect(read("http://localhost:3001/pay_1")).toMatchObject({ reason: "untrusted_host" });
  expect(read("http://127.0.0.1:3000/")).toMatchObject({ reason: "no_payment_id" });
});

// Guarantee: a command line that is not understood pays nothing.
test("arguments", () => {
  expect(readArguments(["pay_1", "--account", "0", "--option", "USDC", "--json"])).toEqual({
    kind: "arguments",
    arguments: {
      link: "pay_1",
      account: "0",
      option: "USDC",
      json: true,
      list: false,
      watch: false,
      fillForm: false,
    },
  });
  expect(readArguments(["--list"])).toMatchObject({ arguments: { link: null, list: true } });
  expect(readArguments(["pay_1", "--fill-form"])).toMatchObject({ arguments: { fillForm: true } });
  for (const args of [
    [],
    ["--json"],
    ["a", "b"],
    ["pay_1", "--amount", "5"],
    ["pay_1", "--option"],
    ["--watch"],
    ["pay_1", "--watch", "--list"],
  ])
    expect(readArguments(args).kind).toBe("wrong");
  expect(readArguments(["-h"]).kind).toBe("help");
  expect(numberAccounts(sandbox)[1]).toMatchObject({ number: 1, holds: "USDT" });
});

// Guarantee: made-up data is what the form asks for, and no more.
test("a form that is filled in", () => {
  const data = fromWallet({ fields: fillForm(COLLECT_SCHEMA) });
  expect(validateCollected(data, "2026-11-21")).toMatchObject({ kind: "valid" });
  const { fullName } = COLLECT_SCHEMA.properties;
  expect(fillForm({ properties: { fullName, passport: {} } }).map(({ id }) => id)).toEqual([
    "fullName",
  ]);
  for (const odd of [null, "x", {}, { properties: null }]) expect(fillForm(odd)).toEqual([]);
});

const rpc = (method: string, params: unknown[]): WalletRpc => ({
  type: "walletRpc",
  chainId: CHAIN,
  method,
  params,
});

const AUTHORIZATION = {
  domain: { name: "USD Coin", version: "2", chainId: "0x7a69", verifyingContract: USDC },
  types: {
    EIP712Domain: [
      { name: "name", type: "string" },
      { name: "version", type: "string" },
      { name: "chainId", type: "uint256" },
      { name: "verifyingContract", type: "address" },
    ],
    TransferWithAuthorization: [
      { name: "from", type: "address" },
      { name: "to", type: "address" },
      { name: "value", type: "uint256" },
      { name: "validAfter", type: "uint256" },
      { name: "validBefore", type: "uint256" },
      { name: "nonce", type: "bytes32" },
    ],
  },
  primaryType: "TransferWithAuthorization" as const,
  message: {
    from: PAYER,
    to: SHOP as `0x${string}`,
    value: "0xbebc20",
    validAfter: "0x0",
    validBefore: "0x69560b00",
    nonce: `0x${"5".repeat(64)}` as const,
  },
};

const onChain = (chainId: unknown) => ({
  ...AUTHORIZATION,
  domain: { ...AUTHORIZATION.domain, chainId },
});

describe("words", () => {
  // Guarantee: who pays sees amount, recipient and deadline before signing.
  test("an authorization", () => {
    const action = rpc("eth_signTypedData_v4", [PAYER, JSON.stringify(AUTHORIZATION)]);
    expect(actionInWords(sandbox, action)).toBe(
      `Sign a transfer of 12.500000 USDC to ${SHOP}, valid until 2026-01-01 05:49:52 UTC (no gas)`,
    );
  });

  test("a Permit2 transfer of an unlisted token", () => {
    const text = JSON.stringify({
      domain: { name: "Permit2", chainId: "0x7a69" },
      types: {},
      primaryType: "PermitTransferFrom",
      message: {
        permitted: { token: SHOP, amount: "7" },
        spender: USDC,
        nonce: "1",
        deadline: "1767225600",
      },
    });
    expect(actionInWords(sandbox, rpc("eth_signTypedData_v4", [PAYER, text]))).toBe(
      `Sign a Permit2 transfer of 7 units of ${SHOP} by ${USDC}, valid until 2026-01-01 00:00:00 UTC (no gas)`,
    );
  });

  test("transactions and messages", () => {
    const data = encodeFunctionData({
      abi: erc20Abi,
      functionName: "approve",
      args: [SHOP, 5_000_000n],
    });
    expect(
      actionInWords(sandbox, rpc("eth_sendTransaction", [{ from: PAYER, to: USDC, data }])),
    ).toContain("allows 0x00000000000000000000000000000000000000D1 to take 5.000000 USDC");
    const value = "0xde0b6b3a7640000";
    expect(actionInWords(sandbox, rpc("eth_sendTransaction", [{ to: SHOP, value }]))).toContain(
      `1.000000000000000000 coins to ${SHOP}`,
    );
    const text = stringToHex("Prove it\nNonce 1\u001b[2J");
    expect(actionInWords(sandbox, rpc("personal_sign", [text, PAYER]))).toBe(
      'Sign the message "Prove it / Nonce 1[2J"',
    );
  });

  // Guarantee: what cannot be read is said to be so, never passed over.
  test("unreadable parameters", () => {
    expect(actionInWords(sandbox, rpc("eth_signTypedData_v4", [PAYER, "{"]))).toContain(
      "cannot be shown",
    );
  });

  // Guarantee: a shop's name cannot draw on the terminal.
  test("control characters are dropped", () => {
    expect(plain("Shop\u001b[31m\u0007\u202e!")).toBe("Shop[31m!");
  });

  test("durations and the table", () => {
    expect([0, 59.9, 61, 899, 3600, 90_061].map(durationInWords)).toEqual([
      "0 s",
      "59 s",
      "1 min 1 s",
      "14 min 59 s",
      "1 h",
      "1 d 1 h",
    ]);
    expect(optionTable(OPTIONS.slice(0, 1), 0).split("\n")).toEqual([
      `  #  you pay         network      ${"account".padEnd(55)}  price holds  steps`,
      `  1  12.500000 USDT  Sandbox One  eip155:31337:${PAYER}  -            prepare`,
    ]);
  });
});

describe("executors", () => {
  const context = { chainId: CHAIN, account: `${CHAIN}:${PAYER}`, index: 0, total: 1 };
  const execute = async (method: string, params: unknown[]) => {
    const executor = createSandboxExecutors(sandbox).eip155?.[method];
    if (executor === undefined) throw new Error(`no executor for ${method}`);
    return await executor(params, context);
  };

  // Guarantee: the signature is one over exactly the typed data that was given.
  test("typed data, as text and as an object", async () => {
    for (const given of [JSON.stringify(AUTHORIZATION), AUTHORIZATION]) {
      const signature = await execute("eth_signTypedData_v4", [PAYER.toLowerCase(), given]);
      const signer = await recoverTypedDataAddress({
        domain: { ...AUTHORIZATION.domain, chainId: 31337n, verifyingContract: USDC },
        types: { TransferWithAuthorization: AUTHORIZATION.types.TransferWithAuthorization },
        primaryType: "TransferWithAuthorization",
        message: AUTHORIZATION.message,
        signature: signature as `0x${string}`,
      });
      expect(signer).toBe(PAYER);
    }
  });

  test("a message", async () => {
    const signature = await execute("personal_sign", [stringToHex("Prove it"), PAYER]);
    const signer = await recoverMessageAddress({
      message: "Prove it",
      signature: signature as `0x${string}`,
    });
    expect(signer).toBe(PAYER);
  });

  // Guarantee: what this wallet will not do is declined, so that nobody thinks something was sent.
  test.for([
    ["eth_signTypedData_v4", [SHOP, JSON.stringify(AUTHORIZATION)]],
    ["eth_signTypedData_v4", [OTHER, JSON.stringify(AUTHORIZATION)]],
    ["personal_sign", ["0x68", OTHER]],
    ["eth_sendTransaction", [{ from: OTHER, to: USDC }]],
    ["eth_signTypedData_v4", [PAYER, JSON.stringify(onChain("0x1"))]],
    ["eth_signTypedData_v4", [PAYER, JSON.stringify(onChain("31338"))]],
    ["eth_signTypedData_v4", [PAYER, JSON.stringify(onChain({}))]],
    ["eth_signTypedData_v4", [PAYER, "{"]],
    ["eth_signTypedData_v4", [PAYER, "{}"]],
    ["eth_sendTransaction", []],
    ["eth_sendTransaction", [{ from: SHOP, to: USDC }]],
    ["eth_sendTransaction", [{ from: PAYER, to: USDC, value: "5" }]],
    ["eth_sendTransaction", [{ from: PAYER, to: USDC, data: "0x" }]], // nothing listens at the node's port
  ] as const)("%s %j", async ([method, params]) => {
    await expect(execute(method, [...params])).rejects.toMatchObject({ name: "ActionDeclined" });
  });
});

// Guarantee: without a sandbox the user is told how to get one.
test("a missing sandbox file", () => {
  const file = readSandbox("/nonexistent/florin");
  expect(file).toMatchObject({ kind: "missing" });
  if (file.kind === "missing") expect(file.message).toContain("npm start");
});

// Guarantee: what a service said and what can be done now are two sentences.
test("advice is whole sentences", () => {
  const advice = (message: string) => adviceInWords({ kind: "unavailable", message, status: 429 });
  expect(advice("Too many requests, try again")).toContain("try again. This attempt");
  expect(advice("Try again!")).toContain("Try again! This attempt");
});
