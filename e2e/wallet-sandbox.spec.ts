import { expect } from "@playwright/test";
import { type Address, getBase64EncodedWireTransaction } from "@solana/kit";
import type { Hex } from "viem";
import { fundGas } from "#server/sandbox/deploy.ts";
import { minedOn, rpc } from "#server/sandbox/node-rpc.ts";
import { violationsOf } from "./axe.ts";
import { test } from "./fixtures.ts";
import {
  type Call,
  CHAIN,
  chainOf,
  connect,
  execute,
  isSigned,
  sendFrom,
  signOn,
} from "./wallets/kit-driver.ts";
import { isSignedBy, issue } from "./wallets/solana-transaction.ts";

// Guarantee: the sandbox wallet has money after one click, shows what it signs, signs for real, and is the same after a reload.
test("the sandbox wallet asks, signs and stays", async ({ page, context, kit, anvil }) => {
  const funded: string[] = [];
  await context.exposeFunction("sandboxDoor", async (call: Record<string, never>) => {
    const { fund, rpc: asked } = call as {
      fund?: { address: Hex };
      rpc?: { chain: string; method: string; params: unknown[] };
    };
    if (fund !== undefined) {
      funded.push(fund.address);
      return fundGas(anvil.rpcUrl, fund.address);
    }
    return rpc(anvil.rpcUrl, asked?.method ?? "", asked?.params).then(
      (result) => ({ result }),
      ({ message }: Error) => ({ error: { code: -32000, message } }),
    );
  });
  await kit.serve(context);
  await page.goto(kit.url);
  const [account] = (await connect(page, "sandbox:eip155", [chainOf(CHAIN)])) as string[];
  const address = account?.split(":").at(-1) as Hex;
  expect(funded).toEqual([address]);

  const panel = page.getByRole("complementary", { name: "Sandbox wallet" });
  const answer = async (name: "Approve" | "Reject", asked: Promise<unknown>) => {
    await expect(panel.getByRole("heading")).toBeFocused();
    await panel.getByRole("button", { name }).click();
    return asked;
  };
  const asked = signOn(page, address);
  await expect(panel).toContainText("12500000");
  // This page has no style sheet.
  expect(await violationsOf(page, ["target-size"])).toEqual([]);
  expect(await isSigned(address, await answer("Approve", asked))).toBe(true);
  expect(await answer("Reject", signOn(page, address))).toMatchObject({ kind: "refused" });
  const hash = await answer("Approve", sendFrom(page, address, "0x7b"));
  await minedOn(anvil.rpcUrl, hash as Hex);

  await panel.getByText("Settings").click();
  const behave = (name: string) => panel.getByRole("combobox").selectOption({ label: name });
  await behave("Refuses");
  expect(await signOn(page, address)).toMatchObject({ kind: "refused" });
  await behave("Signs without asking");
  expect(await isSigned(address, await signOn(page, address))).toBe(true);
  await behave("Signs for the wrong network");
  expect(await isSigned(address, await answer("Approve", signOn(page, address)))).toBe(false);
  await behave("Closes half way");
  expect(await answer("Approve", sendFrom(page, address, "0x1"))).toMatchObject({
    kind: "unknown",
  });
  await page.reload();
  expect(await connect(page, "sandbox:eip155", [chainOf(CHAIN)])).toEqual([account]);
  expect(funded).toEqual([address]);
  await expect(panel).toHaveCount(1);
});

// Guarantee: the sandbox wallet pays on Solana too, through the same window.
test("the sandbox wallet signs on Solana", async ({ page, context, kit }) => {
  const funded: unknown[] = [];
  await context.exposeFunction("sandboxDoor", (asked: { fund: unknown }) =>
    funded.push(asked.fund),
  );
  await kit.serve(context);
  await page.goto(kit.url);
  const cluster = "solana:11111111111111111111111111111111";
  const accounts = await connect(page, "sandbox:solana", [chainOf(cluster)]);
  const account = (accounts as string[])[0] ?? "";
  const address = account.slice(cluster.length + 1) as Address;
  expect(funded).toEqual([{ address, family: "solana" }]);
  const issued = issue(address);
  const params = [{ transaction: getBase64EncodedWireTransaction(issued) }];
  const call: Call = { chain_id: cluster, method: "solana_signTransaction", params };
  const asked = execute(page, call, account);
  await page.getByRole("button", { name: "Approve" }).click();
  expect(await isSignedBy(address, issued, await asked)).toBe(true);
  expect(await page.evaluate(() => window.kit.wallets().length)).toBe(2);
  await page.reload();
  expect(await connect(page, "sandbox:solana", [chainOf(cluster)])).toEqual([account]);
});
