import { expect, test } from "vitest";
import { payingWallets } from "./families.ts";
import { nextStep, type Step } from "./flow.ts";
import { ACCOUNTS, APPROVE_OPTION, FOUND, SIGN_OPTION, WALLET } from "./gallery/fixtures.ts";
import { asResult, keptAfterRefusal } from "./results.ts";

const paying = { wallet: WALLET, accounts: ACCOUNTS, found: FOUND, option: SIGN_OPTION, index: 0 };
const handingIn: Step = { at: "handing_in", ...paying };
const anew = { ...SIGN_OPTION, id: "opt_anew" };
const renewed = { ...FOUND, options: [anew] };

// Guarantee: a signature that was not taken is said to be that, and paying goes on with what is good now.
test.for(["signature", "lapsed"] as const)("%s", (why) => {
  const refused = nextStep(handingIn, { type: "requoted", found: renewed, why });
  expect(refused).toMatchObject({ at: "refused", why, option: anew, index: 0 });
  const gone = nextStep(handingIn, { type: "requoted", found: { ...FOUND, options: [] }, why });
  expect(gone).toMatchObject({ at: "refused", why, option: SIGN_OPTION });
  expect(nextStep(gone, { type: "back" })).toMatchObject({ at: "choosing", chosen: null });
});

// Guarantee: another amount is always shown before it is signed, whatever else was wrong.
test("another amount", () => {
  const dearer = { ...anew, money: { ...anew.money, value: `${anew.money.value}0` } };
  const found = { ...FOUND, options: [dearer] };
  for (const why of ["signature", "lapsed", undefined] as const)
    expect(nextStep(handingIn, { type: "requoted", found, why }).at).toBe("requoted");
});

// Guarantee: who is asked once more is told why for as long as the wallet waits; the next undertaking says nothing of it.
test("asked once more", () => {
  const ask = { kind: "sign" as const, to: null };
  const first = nextStep(handingIn, { type: "again", found: renewed, option: anew });
  expect(first).toMatchObject({ at: "asking", again: true, option: anew });
  const asked = nextStep(first, { type: "ask", index: 0, ask, switching: false, shown: true });
  expect(asked).toMatchObject({ at: "asking", again: true });
  const later = nextStep(nextStep(asked, { type: "hand_in" }), {
    type: "ask",
    index: 0,
    ask,
    switching: false,
    shown: true,
  });
  expect(later).not.toHaveProperty("again");
  const allowed = { ...APPROVE_OPTION, needsData: false };
  expect(nextStep(handingIn, { type: "again", found: FOUND, option: allowed }).at).toBe("approval");
});

// Guarantee: an allowance that stands is not asked for again after a refused signature; a refused proof begins anew.
test("results that stay", () => {
  const results = [asResult("0xapproved"), asResult("0xsigned")];
  expect(keptAfterRefusal(results, [{ path: "results" }])).toEqual(results.slice(0, 1));
  expect(keptAfterRefusal(results, [{ path: "results.0" }])).toEqual([]);
});

// Guarantee: a wallet that cannot pay on any of the networks is not offered.
test("wallets of other families", () => {
  const solana = { ...WALLET, id: "solana:One", family: "solana" as const };
  const evm = { ...WALLET, family: "eip155" as const };
  const on = (caip2: string) => ({
    caip2,
    name: caip2,
    native: { name: "Coin", symbol: "COIN", decimals: 9 },
    rpcUrl: null,
    explorerUrl: null,
  });
  expect(payingWallets([evm, solana], [on("eip155:1")])).toEqual([evm]);
  expect(payingWallets([evm, solana], [on("solana:x")])).toEqual([solana]);
  expect(payingWallets([evm, solana], [on("eip155:1"), on("solana:x")])).toEqual([evm, solana]);
});
