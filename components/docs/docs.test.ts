import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { describeContract } from "#server/contract/operation.ts";
import { curlOf } from "./curl.ts";
import { membersOf } from "./members.ts";
import { codeParts, titleOf } from "./words.ts";

const { operations } = describeContract();
const KEYS = { API_KEY: "sk_test_1", MERCHANT_ID: "mer_1", WALLET_KEY: "gk_test_1" };
const SETTING = Object.entries(KEYS)
  .map(([name, value]) => `${name}=${value}`)
  .join("; ");

// Guarantee: an example can be copied into a shell and is the call it stands beside.
test("every curl example is read by a shell as its operation", () => {
  const commands = operations.map((operation) => curlOf("http://host", operation));
  const script = `${SETTING}\ncurl() { printf '%s\\0' "$@" END; }\n${commands.join("\n")}\n`;
  const { stdout, stderr } = spawnSync("sh", ["-c", script], { encoding: "utf8" });
  expect(stderr).toBe("");
  const calls = stdout.split("END\0").map((call) => call.split("\0").slice(0, -1));
  for (const [index, { endpoint, example }] of operations.entries()) {
    const words = calls[index] ?? [];
    const after = (flag: string) => words.filter((_, at) => words[at - 1] === flag);
    expect(after("-X")).toEqual(endpoint.method === "GET" ? [] : [endpoint.method]);
    const url = new URL(words.find((word) => word.startsWith("http")) ?? "");
    expect(url.pathname).toBe(
      endpoint.path.replace(/\{(\w+)\}/g, (_, name) => example?.path?.[name] ?? ""),
    );
    expect(after("-d").map((body) => JSON.parse(body))).toEqual(
      example?.body === undefined ? [] : [example.body],
    );
    const key = endpoint.auth === "gateway" ? KEYS.WALLET_KEY : KEYS.API_KEY;
    expect(after("-H")).toContain(`Api-Key: ${key}`);
    expect(after("-H").includes("Merchant-Id: mer_1")).toBe(endpoint.auth === "merchant");
  }
});

// Guarantee: a quote in an example does not end the command.
test("a body with an apostrophe stays one word", () => {
  const [first] = operations;
  if (first === undefined) throw new Error("no operations");
  const command = curlOf("http://host", {
    ...first,
    example: { body: { note: "it's $HOME `id`" }, response: {} },
  });
  const script = `curl() { for word; do last=$word; done; printf %s "$last"; }\n${command}`;
  const { stdout } = spawnSync("sh", ["-c", script], { encoding: "utf8" });
  expect(JSON.parse(stdout)).toEqual({ note: "it's $HOME `id`" });
});

// Guarantee: a reader sees each member once, with its path, its type and whether it is always there.
test("members are listed with those inside them", () => {
  const lines = membersOf({
    type: "object",
    required: ["data", "next"],
    properties: {
      data: {
        type: "array",
        maxItems: 5,
        items: {
          type: "object",
          properties: { amount: { $ref: "#/components/schemas/Amount", description: "How much." } },
        },
      },
      next: {
        anyOf: [{ type: "string", maxLength: 9, description: "Must be short." }, { type: "null" }],
      },
    },
  });
  expect(
    lines.map(({ type, ...line }) => ({ ...line, type: type.map((t) => t.text).join("") })),
  ).toEqual([
    {
      name: "data",
      depth: 0,
      required: true,
      description: "At most 5 entries.",
      type: "list of object",
    },
    { name: "data[].amount", depth: 1, required: false, description: "How much.", type: "Amount" },
    {
      name: "next",
      depth: 0,
      required: true,
      description: "Must be short. At most 9 characters.",
      type: "string or null",
    },
  ]);
});

// Guarantee: names and texts are shown as people write them.
test("words", () => {
  expect(titleOf("createMerchantPayment")).toBe("Create merchant payment");
  expect(codeParts("`a` or b")).toEqual([
    { text: "a", code: true },
    { text: " or b", code: false },
  ]);
});
