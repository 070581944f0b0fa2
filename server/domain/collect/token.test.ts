import { expect, test } from "vitest";
import { type CollectLink, checkCollectToken, makeCollectUrl } from "./token.ts";

const SECRET = "s".repeat(32);
const NOW = 1_800_000_000;
const ONE = "eip155:31337:0x00000000000000000000000000000000000000a1";
const TWO = "eip155:31338:0x00000000000000000000000000000000000000b2";
const checkoutUrl = "https://pay.example.com";

/** What a page reads from the address. */
function linkOf(url: string): CollectLink {
  const { searchParams } = new URL(url);
  const one = (name: string) => searchParams.get(name) ?? "";
  return { paymentId: one("pid"), accounts: one("accounts").split(","), token: one("t") };
}
const made = (accounts = [ONE, TWO], paymentId = "pay_1", expiresAt = NOW + 60) =>
  linkOf(makeCollectUrl({ secret: SECRET, checkoutUrl }, paymentId, accounts, expiresAt));
const holds = (link: CollectLink, now = NOW) => checkCollectToken(SECRET, link, now);

// Guarantee: a link works as it was made, in any order of its accounts, and wallets may append to it.
test("a link of ours", () => {
  const link = made();
  expect(holds(link)).toBe(true);
  expect(holds({ ...link, accounts: [TWO, ONE] })).toBe(true);
  const url = makeCollectUrl({ secret: SECRET, checkoutUrl }, "pay_1", [ONE, TWO], NOW + 60);
  expect(url).toMatch(
    /^https:\/\/pay\.example\.com\/collect\?pid=pay_1&accounts=eip155%3A31337%3A0x0{38}a1%2Ceip155%3A31338%3A0x0{38}b2&t=[0-9]+\.[-_A-Za-z0-9]{43}$/,
  );
  expect(linkOf(`${url}&theme=dark&prefill=e30=`)).toEqual(link);
});

// Guarantee: a token with any one character changed, lost or added is refused.
test("a token that was touched", () => {
  const link = made();
  const { token } = link;
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+ \u0000é";
  let tried = 0;
  for (let at = 0; at < token.length; at++) {
    const changed = [...alphabet].map((c) => token.slice(0, at) + c + token.slice(at + 1));
    for (const one of [...changed, token.slice(0, at) + token.slice(at + 1)]) {
      if (one === token) continue;
      tried++;
      expect(holds({ ...link, token: one }), `${at} ${one}`).toBe(false);
    }
  }
  expect(tried).toBeGreaterThan(3_000);
  for (const one of ["", ".", `${token}.`, `${token}A`, `0${token}`, ` ${token}`, `.${token}`])
    expect(holds({ ...link, token: one })).toBe(false);
});

// Guarantee: a token opens its own payment and its own accounts and nothing else.
test("a token for something else", () => {
  const { token } = made();
  const link = { paymentId: "pay_1", token };
  for (const accounts of [[ONE], [TWO], [], [ONE, TWO, TWO], [`${ONE},${TWO}`], [ONE, `${TWO}0`]])
    expect(holds({ ...link, accounts })).toBe(false);
  expect(holds({ ...link, paymentId: "pay_2", accounts: [ONE, TWO] })).toBe(false);
  expect(holds({ ...made([ONE]), accounts: [TWO] })).toBe(false);
  expect(holds({ ...made([ONE]), token: made([TWO]).token })).toBe(false);
  expect(checkCollectToken("o".repeat(32), made(), NOW)).toBe(false);
});

// Guarantee: a link ends, and its end cannot be moved.
test("a token after its time", () => {
  const link = made();
  expect(holds(link, NOW + 59)).toBe(true);
  expect(holds(link, NOW + 60)).toBe(false);
  const [, mac = ""] = link.token.split(".");
  const later = { ...link, token: `${NOW + 600}.${mac}` };
  expect(holds(later, NOW + 120)).toBe(false);
  const [expiry = ""] = made([ONE, TWO], "pay_1", NOW + 600).token.split(".");
  expect(holds({ ...link, token: `${expiry}.${mac}` }, NOW + 1)).toBe(false);
});
