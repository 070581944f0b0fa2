import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { environment } from "#server/sandbox/migrate.ts";
import { ROOT } from "#server/sandbox/prepare.ts";
import { actors, call, until } from "./api.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let server: TestServer;

beforeAll(async () => {
  world = await createTestWorld();
  server = await world.startServer();
});
afterAll(() => world?.stop());

const merchant = (): string => world.demo.merchants[0]?.id ?? "";

/** Runs the command as an operator does. */
function run(...words: string[]) {
  const node = join(ROOT, "node_modules", ".bin", "node");
  return spawnSync(node, [join(ROOT, "server/cli/merchant.ts"), ...words], {
    cwd: ROOT,
    encoding: "utf8",
    env: { ...environment(), ...world.world.serverEnv },
  });
}
const terms = (...words: string[]) => run("terms", "--merchant", merchant(), ...words);

type Terms = { fee_bps: number; settlement_schedule: string; collects_data: boolean };

/** The terms a new payment was made with. */
async function ofNew(): Promise<Terms & { id: string; prove_ownership: boolean }> {
  const { body } = await actors(world, () => server.baseUrl).create();
  const [row] = await world.db.query<Terms & { id: string; prove_ownership: boolean }>(
    `select id, fee_bps, settlement_schedule, collects_data, prove_ownership from payment where id = $1`,
    [body.paymentId],
  );
  if (row === undefined) throw new Error("no payment");
  return row;
}

// Guarantee: an operator changes what a merchant pays and asks for with one command; the next payments have it at once, and those that were made keep what they had.
test("new terms hold for new payments", async () => {
  const before = await ofNew();
  expect(before).toMatchObject({ fee_bps: 40, collects_data: false, prove_ownership: false });
  const words = ["--fee-bps", "125", "--schedule", "batched", "--prove-ownership"];
  const changed = terms(...words, "--collect-from-cents", "1000");
  expect([changed.status, changed.stderr]).toEqual([0, ""]);
  const said = { feeBps: 125, schedule: "batched", collect: "from 1000", proveOwnership: true };
  expect(JSON.parse(changed.stdout)).toMatchObject(said);
  expect(JSON.parse(terms().stdout)).toEqual(JSON.parse(changed.stdout));
  const after = await until(ofNew, ({ fee_bps }) => fee_bps === 125, 10_000);
  expect(after).toMatchObject({
    settlement_schedule: "batched",
    collects_data: true,
    prove_ownership: true,
  });
  const [kept] = await world.db.query(`select fee_bps from payment where id = $1`, [before.id]);
  expect(kept).toEqual({ fee_bps: 40 });
  const back = terms("--collect", "never", "--no-prove-ownership", "--fee-fixed-cents", "30");
  expect(JSON.parse(back.stdout)).toMatchObject({ feeBps: 125, feeFixedCents: 30 });
});

// Guarantee: what cannot be meant changes nothing, and says what to write instead.
test("misuse", async () => {
  const before = terms().stdout;
  for (const [words, says] of [
    [["--fee-bps", "10001"], "--fee-bps"],
    [["--fee-bps", "-1"], "--fee-bps"],
    [["--fee-bps", "1e2"], "whole number"],
    [["--fee-bps", ""], "whole number"],
    [["--schedule", "weekly"], "--schedule"],
    [["--collect", "always", "--collect-from-cents", "5"], "exclude each other"],
    [["--prove-ownership", "--no-prove-ownership"], "exclude each other"],
    [["--fees", "5"], "--fees"],
    [["--merchant", "mer_none"], "no merchant mer_none"],
  ] as const) {
    const { status, stderr } = terms(...words);
    expect([words, status]).toEqual([words, 2]);
    expect(stderr).toContain(says);
    expect(stderr).not.toMatch(/\n\s+at /);
  }
  expect(terms().stdout).toBe(before);
  for (const [words, says] of [
    [["--nmae", "Shop"], "--nmae"],
    [["--name", "Shop", "--destination", "x"], "must be <asset>=<account>"],
    [["--name", "Shop", "--destination", "x=y"], "must be a CAIP-19 asset"],
  ] as const) {
    const { status, stderr } = run(...words);
    expect([words, status]).toEqual([words, 2]);
    expect(stderr).toContain(says);
    expect(stderr).not.toMatch(/\n\s+at /);
  }
});

const CHAIN = "eip155:31337";
const ACCOUNT = `${CHAIN}:0x${"ab".repeat(20)}`;
const make = (...pairs: [asset: string, account: string][]) =>
  run("--name", "Corner Shop", ...pairs.flatMap((pair) => ["--destination", pair.join("=")]));
const rows = async () => {
  const [counted] = await world.db.query(
    `select (select count(*)::int from partner) as partners, (select count(*)::int from merchant) as merchants,
       (select count(*)::int from api_key) as keys, (select count(*)::int from app) as apps`,
  );
  return counted;
};

// Guarantee: an operator's command pays out to no account that partners' calls may not name, and leaves nothing of a merchant that was refused.
test("destinations that cannot be", async () => {
  const before = await rows();
  const [chain] = world.world.memory.chains;
  const addressOf = (key: `0x${string}` | undefined) => privateKeyToAccount(key ?? "0x").address;
  const [usdc, usdt] = [world.asset("usdc"), world.asset("usdt")];
  const at = (address: string | undefined): [string, string] => [usdc, `${CHAIN}:${address}`];
  for (const [pairs, says] of [
    [[at(`0x${"0".repeat(40)}`)], "must not be the zero address"],
    [[at(chain?.usdt)], "must not be a token contract"],
    [[at(addressOf(world.world.memory.intermediaryKey))], "must not be an account of this service"],
    [[at(addressOf(chain?.relayerKeys[0]))], "must not be an account of this service"],
    [[at(addressOf(chain?.spenderKey))], "must not be an account of this service"],
    [[[`${CHAIN}/erc20:0x${"cd".repeat(20)}`, ACCOUNT]], "is not an asset this service accepts"],
    [[[usdc, ACCOUNT.replace("31337", "31338")]], "must be on the same chain"],
    [[[usdt, ACCOUNT], at("0x1234")], "must be a CAIP-10 account"],
    [
      [
        [usdc, ACCOUNT],
        [usdc.toUpperCase().replace(/^EIP155:31337.ERC20:0X/, `${CHAIN}/erc20:0x`), ACCOUNT],
      ],
      "is named twice",
    ],
  ] as [[string, string][], string][]) {
    const { status, stdout, stderr } = make(...pairs);
    expect([says, status, stdout]).toEqual([says, 2, ""]);
    expect(stderr).toContain(says);
    expect(stderr).not.toMatch(/\n\s+at /);
  }
  const stranger = run(
    "--name",
    "Shop",
    "--destination",
    `${usdc}=${ACCOUNT}`,
    "--partner",
    "par_0",
  );
  expect([stranger.status, stranger.stderr.split("\n")[0]]).toEqual([
    2,
    "There is no partner par_0.",
  ]);
  expect(await rows()).toEqual(before);
});

// Guarantee: what the command makes is whole: a merchant with its terms, its destinations and keys that work.
test("a merchant is made", async () => {
  const [usdc, usdt] = [world.asset("usdc"), world.asset("usdt")];
  const made = make([usdc, ACCOUNT], [usdt, ACCOUNT]);
  expect([made.status, made.stderr]).toEqual([0, ""]);
  const { merchantId, partnerId, apiKey } = JSON.parse(made.stdout);
  expect(JSON.parse(run("terms", "--merchant", merchantId).stdout)).toMatchObject({
    name: "Corner Shop",
    feeBps: 0,
    schedule: "instant",
  });
  const { status, body } = await call(
    server.baseUrl,
    "GET",
    `/v1/merchants/${merchantId}/settlements`,
    {
      headers: { "Api-Key": apiKey },
    },
  );
  expect(status).toBe(200);
  expect(body.crypto.map(({ asset }: { asset: string }) => asset).toSorted()).toEqual(
    [usdc, usdt].toSorted(),
  );
  const second = run(
    "--name",
    "Till",
    "--partner",
    partnerId,
    "--destination",
    `${usdc}=${ACCOUNT}`,
  );
  expect(JSON.parse(second.stdout)).toMatchObject({ partnerId });
});
