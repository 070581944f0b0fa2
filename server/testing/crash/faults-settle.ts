import { encodeAbiParameters, keccak256, numberToHex } from "viem";
import { expect } from "vitest";
import { asOwner } from "#server/sandbox/deploy.ts";
import { balances, expectBooks, expectNonces, intermediaryOf, merchantOf } from "./checks.ts";
import { becomes, beginPlay, type Play, sent } from "./finish.ts";
import { runCli, type Stage } from "./stage.ts";

type Settlement = { id: string; state: string; amount: string; intent_id: string | null };

const settlementsOf = (stage: Stage, play: Play): Promise<Settlement[]> =>
  stage.rows<Settlement>(
    `select id, state, amount, intent_id from settlement where payment_id = $1 order by created_at`,
    [play.journey.id()],
  );

/** Work that was done comes once more: the capture counts as not final yet, after everything is settled. */
export async function settlementMadeTwice(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const server = await stage.start();
  await play.journey.advance(server.baseUrl);
  await play.expectOneOfEverything();
  await stage.rows(`update capture set status = 'confirmed' where payment_id = $1`, [
    play.journey.id(),
  ]);
  await stage.mineUntil(
    () =>
      stage.rows(`select 1 from capture where payment_id = $1 and status = 'finalized'`, [
        play.journey.id(),
      ]),
    (rows) => rows.length === 1,
    "the capture is made final again",
  );
  await stage.mine(3);
  await stage.looked();
  await play.expectOneOfEverything();
  const again = stage.rows(
    `insert into settlement (id, payment_id, capture_id, merchant_id, asset, destination, amount, fee, schedule)
     select id || 'b', payment_id, capture_id, merchant_id, asset, destination, amount, fee, schedule
     from settlement where payment_id = $1`,
    [play.journey.id()],
  );
  await expect(again).rejects.toThrow(/one_live_settlement/);
}

export async function captureNotFinal(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const first = await stage.start();
  await play.journey.advance(first.baseUrl);
  await sent(stage, play);
  await stage.mine();
  await becomes(stage, play, "succeeded");
  await stage.looked();
  await first.kill();
  await stage.start();
  await stage.looked(15);
  expect(await settlementsOf(stage, play)).toEqual([]);
  await play.expectOneOfEverything();
}

/** The merchant's account is on the token's deny list until somebody takes it off and lets the settlement go again. */
export async function destinationDenied(stage: Stage): Promise<void> {
  const listed = (on: boolean) =>
    stage.whileMining(() =>
      asOwner(
        stage.url,
        stage.deployment,
        stage.deployment.usdc,
        "function setBlacklisted(address account, bool listed)",
        [merchantOf(stage).destination, on],
      ),
    );
  await listed(true);
  try {
    const play = await beginPlay(stage);
    const first = await stage.start();
    await play.journey.advance(first.baseUrl);
    const blocked = () =>
      stage.mineUntil(
        () => settlementsOf(stage, play),
        ([one]) => one?.state === "blocked",
        "the settlement is blocked",
      );
    await blocked();
    await first.kill();
    const second = await stage.start();
    await stage.looked(10);
    const [one, ...more] = await blocked();
    expect({ ...one, more }).toEqual({
      id: one?.id,
      state: "blocked",
      amount: "12450000",
      intent_id: null,
      more: [],
    });
    const { body } = await stage.api(second.baseUrl).details(play.journey.id());
    expect([body.status, body.settlement]).toEqual(["succeeded", null]);
    await listed(false);
    await runCli(stage, "settlements.ts", ["retry", one?.id ?? ""]);
    await play.expectOneOfEverything();
  } finally {
    await listed(false);
  }
}

/** Writes what an account holds of the token straight into the chain's state: money gone that no book knows of. */
async function setBalance(stage: Stage, address: string, amount: bigint): Promise<void> {
  const slot = keccak256(
    encodeAbiParameters([{ type: "address" }, { type: "uint256" }], [address as `0x${string}`, 0n]),
  );
  await stage.rpc("anvil_setStorageAt", [
    stage.deployment.usdc,
    slot,
    numberToHex(amount, { size: 32 }),
  ]);
}

export async function intermediaryShort(stage: Stage): Promise<void> {
  const first = await beginPlay(stage);
  const second = await beginPlay(stage);
  const intermediary = intermediaryOf(stage);
  const server = await stage.start();
  for (const { journey } of [first, second]) await journey.advance(server.baseUrl);
  for (const play of [first, second]) await sent(stage, play);
  await stage.mine();
  for (const play of [first, second]) await becomes(stage, play, "succeeded");
  const held = (await balances(stage, "usdc", intermediary)).intermediary;
  const destination = (await balances(stage, "usdc", intermediary)).destination;
  await setBalance(stage, intermediary, 1_000n);
  await stage.mineUntil(
    () => stage.rows<{ asset: string }>(`select asset from settlement_hold`),
    (rows) => rows.length > 0,
    "the asset is on hold",
  );
  await server.kill();
  await stage.start();
  await stage.mine(3);
  await stage.looked(10);
  for (const play of [first, second])
    expect(await settlementsOf(stage, play)).toMatchObject([{ state: "pending", intent_id: null }]);
  expect((await balances(stage, "usdc", intermediary)).destination).toBe(destination);
  await setBalance(stage, intermediary, held);
  await stage.mine();
  const asset = stage.test.asset("usdc");
  expect(await stage.rows(`select asset from settlement_hold`)).toEqual([{ asset }]);
  await runCli(stage, "settlements.ts", ["lift", asset]);
  for (const play of [first, second])
    await stage.mineUntil(
      () => settlementsOf(stage, play),
      ([one]) => one?.state === "final",
      "the settlement goes on",
    );
  expect((await balances(stage, "usdc", intermediary)).destination).toBe(
    destination + 2n * 12_450_000n,
  );
  await stage.mineUntil(
    () =>
      stage.rows<{ n: string }>(
        `select count(*) as n from chain_intent where state in ('signed', 'broadcast', 'mined')`,
      ),
    ([row]) => row?.n === "0",
    "every transaction is final",
  );
  await expectNonces(stage);
  await expectBooks(stage);
}
