import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Action, type Answer, until, untilOffered } from "./api.ts";
import {
  changesNothing,
  DOORS,
  type Doors,
  expectRefusal,
  openDoors,
  type Refusal,
  send,
} from "./doors.ts";

const A = "eip155:31337";
const B = "eip155:31338";
const INVALID = { status: 400, code: "invalid_params" };
const RULE = { status: 400, code: "params_validation" };
const BAD_ACCOUNT = { status: 422, code: "params_validation" };
const BAD_SIGNATURE = { status: 422, code: "params_validation" };
const HASH = `0x${"ab".repeat(32)}`;

type Option = {
  id: string;
  account: string;
  amount: { value: string; display: { assetSymbol: string } };
  actions: Action[];
};

let doors: Doors;
/** A payment that every refusal below must leave as it is. */
let open: { id: string; usdc: Option; usdt: Option };
/** Payments that were refused something and then confirmed: in the end each of them must be paid. */
const paid: string[] = [];

const payer = () => doors.world.buyer("everything");
const api = (door: (typeof DOORS)[number] = "front door") => doors.at(door);

async function offered(accounts = [`${A}:${payer().address}`]) {
  const id: string = (await api().create()).body.paymentId;
  const listed = await untilOffered(
    () => api().options(id, accounts),
    ({ length }) => length === 2 * accounts.length,
  );
  const find = (symbol: string, chain = A): Option => {
    const found = listed.body.options.find(
      ({ account, amount }: Option) =>
        account.startsWith(chain) && amount.display.assetSymbol === symbol,
    );
    if (found === undefined) throw new Error(`no ${symbol} on ${chain}: ${listed.text}`);
    return found;
  };
  return { id, usdc: find("USDC"), usdt: find("USDT"), find };
}

beforeAll(async () => {
  doors = await openDoors({ chains: 2 });
  open = await offered();
});
afterAll(() => doors?.stop());

/** The typed data an option asks to be signed. */
function typedData(option: Option) {
  const action = option.actions.at(-1);
  return JSON.parse(String(action?.data.params[1]));
}

/** Signs typed data, after `change`, with any key. */
function sign(option: Option, key: Hex, change = (_: Record<string, unknown>): void => undefined) {
  const data = typedData(option);
  change(data.message);
  const { EIP712Domain: _, ...types } = data.types;
  return privateKeyToAccount(key).signTypedData({ ...data, types });
}

const result = (...data: unknown[]) => ({ type: "walletRpc", data });

describe.for(DOORS)("through the %s", (door) => {
  const post = (id: string, call: string, body: unknown): Promise<Answer> =>
    send(doors.baseUrl(door), {
      method: "POST",
      path: `/v1/gateway/payment/${id}/${call}`,
      headers: api().gatewayHeaders,
      body,
    });
  const refuses = async (call: string, body: unknown, refusal: Refusal, id = open.id) => {
    const answer = await changesNothing(doors.world.db, () => post(id, call, body));
    expectRefusal(answer, "/v1/gateway/", refusal);
    return answer;
  };
  const confirm = (id: string, option: Option, ...results: unknown[]) =>
    post(id, "confirm", { optionId: option.id, results });
  /** Hands in the right signature, which must be taken however the payment was treated before. */
  const pays = async (id: string, option: Option) => {
    const answer = await confirm(id, option, result(await sign(option, payer().key)));
    expect([answer.status, answer.body.status]).toEqual([200, "processing"]);
    paid.push(id);
  };

  // Guarantee: an account that cannot be one is named, and nobody is offered anything.
  const address = () => payer().address;
  test.for([
    ["empty text", () => [""], BAD_ACCOUNT],
    ["no chain", () => [address()], BAD_ACCOUNT],
    ["a chain alone", () => [A], BAD_ACCOUNT],
    ["an empty address", () => [`${A}:`], BAD_ACCOUNT],
    ["39 digits", () => [`${A}:${address().slice(0, -1)}`], BAD_ACCOUNT],
    ["41 digits", () => [`${A}:${address()}0`], BAD_ACCOUNT],
    ["no 0x", () => [`${A}:${address().slice(2)}`], BAD_ACCOUNT],
    ["a letter that is no digit", () => [`${A}:0x${"g".repeat(40)}`], BAD_ACCOUNT],
    ["0X", () => [`${A}:0X${address().slice(2)}`], BAD_ACCOUNT],
    ["a chain that is no number", () => [`eip155:main:${address()}`], BAD_ACCOUNT],
    [
      "a chain beyond every chain id",
      () => [`eip155:99999999999999999999:${address()}`],
      BAD_ACCOUNT,
    ],
    ["a chain with a leading zero", () => [`eip155:031337:${address()}`], BAD_ACCOUNT],
    ["a negative chain", () => [`eip155:-1:${address()}`], BAD_ACCOUNT],
    ["a namespace in capitals", () => [`EIP155:31337:${address()}`], BAD_ACCOUNT],
    ["blanks around", () => [` ${A}:${address()} `], BAD_ACCOUNT],
    ["a line break after", () => [`${A}:${address()}\n`], BAD_ACCOUNT],
    ["NUL inside", () => [`${A}:${address()}\u0000`], BAD_ACCOUNT],
    ["half a surrogate pair", () => [`${A}:\ud800`], BAD_ACCOUNT],
    ["full-width digits", () => [`eip155:３１３３７:${address()}`], BAD_ACCOUNT],
    ["a name", () => [`${A}:vitalik.eth`], BAD_ACCOUNT],
    ["a Solana address with a 0", () => [`solana:mainnet:${"0".repeat(44)}`], BAD_ACCOUNT],
    ["a Solana address of 31 bytes", () => [`solana:mainnet:${"1".repeat(31)}`], BAD_ACCOUNT],
    [
      "a Solana address of 24 bytes in 32 letters",
      () => [`solana:mainnet:${"z".repeat(32)}`],
      BAD_ACCOUNT,
    ],
    [
      "a Solana address of 33 bytes in 44 letters",
      () => [`solana:mainnet:${"z".repeat(44)}`],
      BAD_ACCOUNT,
    ],
    ["an EVM address on Solana", () => [`solana:mainnet:${address()}`], BAD_ACCOUNT],
    [
      "one bad account among good ones",
      () => [`${A}:${address()}`, "x", `${B}:${address()}`],
      BAD_ACCOUNT,
    ],
    ["200 kB of account", () => [`${A}:0x${"a".repeat(60_000)}`], BAD_ACCOUNT],
    ["no accounts", () => [], RULE],
    ["101 accounts", () => Array.from({ length: 101 }, () => `${A}:${address()}`), RULE],
    [
      "101 different accounts",
      () => Array.from({ length: 101 }, (_, at) => `${A}:0x${at.toString(16).padStart(40, "0")}`),
      RULE,
    ],
    ["a number", () => [31337], INVALID],
    ["null", () => [null], INVALID],
    ["a list in the list", () => [[`${A}:${address()}`]], INVALID],
  ] as [string, () => unknown[], Refusal][])("accounts: %s", async ([, accounts, refusal]) => {
    const { body } = await refuses("options", { accounts: accounts() }, refusal);
    expect(body.issues.length).toBeGreaterThan(0);
  });
  test("accounts: the wrong one is named by its place", async () => {
    const accounts = [`${A}:${address()}`, "nobody", `${B}:${address()}`, "nothing"];
    const { body } = await refuses("options", { accounts }, BAD_ACCOUNT);
    expect(body.issues.map(({ path, field }: Record<string, string>) => [path, field])).toEqual([
      ["accounts.1", "accounts"],
      ["accounts.3", "accounts"],
    ]);
  });
  test.for([
    ["no accounts member", {}],
    ["text", { accounts: A }],
    ["an object", { accounts: { 0: A } }],
    ["null", { accounts: null }],
  ] as [string, unknown][])("accounts: %s", async ([, body]) => {
    await refuses("options", body, INVALID);
  });

  // Guarantee: an account nobody here serves is no mistake: it just gives no option.
  test("accounts that are well-formed but give nothing", async () => {
    const accounts = [
      `eip155:1:${address()}`,
      "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:7S3P4HxJpyyigGzodYwHtCxZyUQe9JiBMHyRWXArAaKv",
      `solana:mainnet:${"1".repeat(32)}`,
      "bip122:000000000019d6689c085ae165831e93:128Lkh3S7CkDTBZ8W7BbpsN3YYizJMp8p6",
      "cosmos:cosmoshub-3:cosmos1t2uflqwqe0fsj0shcfkrvpukewcw40yjj6hdc0",
      `${A}:${doors.world.buyer("empty").address}`,
    ];
    const answer = await changesNothing(doors.world.db, () =>
      post(open.id, "options", { accounts }),
    );
    expect([answer.status, answer.body.options]).toEqual([200, []]);
  });

  // Guarantee: accounts are compared by what they are, and given back as they were written; asking again gives the same offers.
  test("one account in many spellings", async () => {
    const odd = `${A}:0x${[...address().slice(2)].map((c, at) => (at % 2 ? c.toUpperCase() : c.toLowerCase())).join("")}`;
    const accounts = [odd, `${A}:${address()}`, `${A}:${address().toLowerCase()}`, odd];
    const { status, body } = await untilOffered(() => post(open.id, "options", { accounts }));
    expect(status).toBe(200);
    expect(
      body.options
        .map(({ account, amount }: Option) => [account, amount.display.assetSymbol])
        .toSorted(),
    ).toEqual([
      [odd, "USDC"],
      [odd, "USDT"],
    ]);
    expect(new Set(body.options.map((option: Option) => option.id))).toEqual(
      new Set([open.usdc.id, open.usdt.id]),
    );
    for (const option of body.options as Option[])
      expect(Object.keys(option).toSorted()).toEqual([
        "account",
        "actions",
        "amount",
        "collectData",
        "etaS",
        "expiresAt",
        "id",
      ]);
  });
  test("100 accounts", async () => {
    const others = Array.from(
      { length: 98 },
      (_, at) => `${B}:0x${(at + 1).toString(16).padStart(40, "a")}`,
    );
    const accounts = [...others, `${A}:${address()}`, `${B}:${address()}`];
    const { status, body } = await untilOffered(
      () => post(open.id, "options", { accounts }),
      ({ length }) => length >= 4,
    );
    expect([status, body.options.length]).toEqual([200, 4]);
  });

  // Guarantee: only what was issued for this payment can be fetched or confirmed, and the refusal does not say what exists elsewhere.
  test("options of nobody and of another payment look alike", async () => {
    const other = await offered();
    const signed = result(await sign(other.usdc, payer().key));
    for (const optionId of [
      "opt_none",
      other.usdc.id,
      open.id,
      open.usdc.id.toLowerCase(),
      "__proto__",
    ]) {
      const answers = [
        await refuses("fetch", { optionId, data: "" }, RULE),
        await refuses("confirm", { optionId, results: [signed] }, RULE),
      ];
      for (const { body } of answers)
        expect(body.message).toBe("Validation error: Option not found");
    }
    await pays(other.id, other.usdc);
  });
  test.for([
    ["no option", { data: "" }, INVALID],
    ["no data", () => ({ optionId: open.usdc.id }), INVALID],
    ["a number for the option", { optionId: 7, data: "" }, INVALID],
    ["an empty option", { optionId: "", data: "" }, RULE],
    ["an option of 5,000 characters", { optionId: "o".repeat(5_000), data: "" }, RULE],
    ["NUL in the option", { optionId: "opt_\u0000", data: "" }, RULE],
    ["half a surrogate pair in the option", { optionId: "opt_\ud800", data: "" }, RULE],
    ["data that was not issued", () => ({ optionId: open.usdc.id, data: "eyJhIjoxfQ" }), RULE],
    ["one blank for data", () => ({ optionId: open.usdc.id, data: " " }), RULE],
    ["NUL for data", () => ({ optionId: open.usdc.id, data: "\u0000" }), RULE],
    ["half a surrogate pair for data", () => ({ optionId: open.usdc.id, data: "\udc00" }), RULE],
    ["60 kB of data", () => ({ optionId: open.usdc.id, data: "A".repeat(60_000) }), RULE],
    ["the option's own id for data", () => ({ optionId: open.usdc.id, data: open.usdc.id }), RULE],
    ["an object for data", () => ({ optionId: open.usdc.id, data: {} }), INVALID],
    ["null for data", () => ({ optionId: open.usdc.id, data: null }), INVALID],
  ] as [string, unknown, Refusal][])("fetch: %s", async ([, body, refusal]) => {
    await refuses("fetch", typeof body === "function" ? body() : body, refusal);
  });
  test("fetch gives the option's own actions, again and again", async () => {
    for (const option of [open.usdc, open.usdt, open.usdc]) {
      const answer = await changesNothing(doors.world.db, () =>
        post(open.id, "fetch", { optionId: option.id, data: "" }),
      );
      expect([answer.status, answer.body]).toEqual([200, { actions: option.actions }]);
    }
  });

  // Guarantee: a confirm that is not of the right form changes nothing, so that nobody ends a payment by a mistake in form.
  test.for([
    ["no option", { results: [result(HASH)] }, INVALID],
    ["no results", { optionId: "$" }, INVALID],
    ["null for results", { optionId: "$", results: null }, INVALID],
    ["text for results", { optionId: "$", results: HASH }, INVALID],
    ["an object for results", { optionId: "$", results: { 0: result(HASH) } }, INVALID],
    ["text in results", { optionId: "$", results: [HASH] }, INVALID],
    ["null in results", { optionId: "$", results: [null] }, INVALID],
    ["another type", { optionId: "$", results: [{ type: "build", data: [HASH] }] }, INVALID],
    [
      "a type in capitals",
      { optionId: "$", results: [{ type: "WalletRpc", data: [HASH] }] },
      INVALID,
    ],
    ["no type", { optionId: "$", results: [{ data: [HASH] }] }, INVALID],
    ["no data", { optionId: "$", results: [{ type: "walletRpc" }] }, INVALID],
    ["text for data", { optionId: "$", results: [{ type: "walletRpc", data: HASH }] }, INVALID],
    ["a number for an output", { optionId: "$", results: [result(7)] }, INVALID],
    ["null for an output", { optionId: "$", results: [result(null)] }, INVALID],
    ["a switch for an output", { optionId: "$", results: [result(true)] }, INVALID],
    ["a list for an output", { optionId: "$", results: [result([HASH])] }, INVALID],
    [
      "101 results",
      { optionId: "$", results: Array.from({ length: 101 }, () => result(HASH)) },
      RULE,
    ],
    [
      "101 outputs",
      { optionId: "$", results: [result(...Array.from({ length: 101 }, () => HASH))] },
      RULE,
    ],
    ["a number for the option", { optionId: 7, results: [] }, INVALID],
    ["an empty option", { optionId: "", results: [] }, RULE],
    [
      "300 kB",
      { optionId: "$", results: [], collectedData: "x".repeat(300_000) },
      { status: 413, code: "invalid_params" },
    ],
  ] as [string, object, Refusal][])("confirm: %s", async ([, body, refusal]) => {
    const mine =
      "optionId" in body && body.optionId === "$" ? { ...body, optionId: open.usdc.id } : body;
    await refuses("confirm", mine, refusal);
  });

  // Guarantee: results that cannot belong to the actions end the payment, as the specification says, with no failure code.
  const MISALIGNED: [string, "usdc" | "usdt", (signature: string) => unknown[]][] = [
    ["no results", "usdc", () => []],
    ["a claimed hash for a signature", "usdc", () => [result(HASH)]],
    ["two results for one action", "usdc", (s) => [result(s), result(s)]],
    ["two outputs for one action", "usdc", (s) => [result(s, s)]],
    ["a result without output", "usdc", () => [result()]],
    ["a signature cut short", "usdc", (s) => [result(s.slice(0, -4))]],
    ["a signature without 0x", "usdc", (s) => [result(s.slice(2))]],
    ["a signature with a recovery value of 29", "usdc", (s) => [result(`${s.slice(0, -2)}1d`)]],
    ["an empty output", "usdc", () => [result("")]],
    ["an object for a signature", "usdc", (s) => [result({ signature: s })]],
    ["too few", "usdt", (s) => [result(s)]],
    ["too many", "usdt", (s) => [result(HASH), result(s), result(s)]],
    ["swapped", "usdt", (s) => [result(s), result(HASH)]],
    ["two hashes", "usdt", () => [result(HASH), result(HASH)]],
    ["two signatures", "usdt", (s) => [result(s), result(s)]],
    ["swapped in one result", "usdt", (s) => [result(s, HASH)]],
  ];
  test.for(MISALIGNED)("misaligned: %s", async ([, token, results]) => {
    const payment = await offered();
    const option = payment[token];
    expect(option.actions.map(({ data }) => data.method)).toEqual(
      token === "usdc" ? ["eth_signTypedData_v4"] : ["eth_sendTransaction", "eth_signTypedData_v4"],
    );
    const signature = await sign(option, payer().key);
    const answer = await confirm(payment.id, option, ...results(signature));
    expect([answer.status, answer.body]).toEqual([
      200,
      { status: "failed", isFinal: true, pollInMs: null, info: null },
    ]);
    const status = await api(door).status(payment.id);
    expect(status.body).toEqual({
      status: "failed",
      isFinal: true,
      pollInMs: null,
      failureCode: null,
      info: null,
    });
    expect((await api(door).details(payment.id)).body).toMatchObject({
      status: "failed",
      failureCode: null,
    });
    const events = await doors.world.db.query(
      `select from_s, to_s, type, body->>'reason' is not null as explained from payment_event where payment_id = $1`,
      [payment.id],
    );
    expect(events).toEqual([
      { from_s: "requires_action", to_s: "failed", type: "results_misaligned", explained: true },
    ]);
    // It stays so: the right results come too late, and no other option is taken.
    const late = await changesNothing(doors.world.db, () =>
      confirm(payment.id, option, result(signature)),
    );
    expect([late.status, late.body.status]).toEqual([200, "failed"]);
    const other = token === "usdc" ? payment.usdt : payment.usdc;
    const refused = await changesNothing(doors.world.db, () =>
      confirm(payment.id, other, result(signature)),
    );
    expectRefusal(refused, "/v1/gateway/", {
      status: 400,
      code: "invalid_state",
      message: /failed/,
    });
  });

  // Guarantee: a signature that is not the payer's for exactly this payment is refused, and costs the buyer nothing.
  type Offer = Awaited<ReturnType<typeof offered>>;
  const HALF_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const malleate = (signature: Hex): string => {
    const s = HALF_ORDER - BigInt(`0x${signature.slice(66, 130)}`);
    const v = signature.endsWith("1b") ? "1c" : "1b";
    return `${signature.slice(0, 66)}${s.toString(16).padStart(64, "0")}${v}`;
  };
  test.for([
    ["by another account", ({ usdc }) => sign(usdc, doors.world.buyer("usdc").key)],
    ["by an account that nobody knows", ({ usdc }) => sign(usdc, generatePrivateKey())],
    ["for another payment", async () => sign((await offered()).usdc, payer().key)],
    ["for the other chain", ({ find }) => sign(find("USDC", B), payer().key)],
    ["for another token", ({ usdt }) => sign(usdt, payer().key)],
    ["with a smaller amount", ({ usdc }) => sign(usdc, payer().key, (m) => (m.value = "1"))],
    ["with a larger amount", ({ usdc }) => sign(usdc, payer().key, (m) => (m.value = "12500001"))],
    [
      "with another recipient",
      ({ usdc }) => sign(usdc, payer().key, (m) => (m.to = payer().address)),
    ],
    [
      "with another deadline",
      ({ usdc }) => sign(usdc, payer().key, (m) => (m.validBefore = "99999999999")),
    ],
    ["with another nonce", ({ usdc }) => sign(usdc, payer().key, (m) => (m.nonce = HASH))],
    ["in its mirrored form", async ({ usdc }) => malleate(await sign(usdc, payer().key))],
    ["of nothing but zeros", async () => `0x${"00".repeat(64)}1b`],
    ["of nothing but ones", async () => `0x${"ff".repeat(64)}1c`],
    [
      "with its last byte but one changed",
      async ({ usdc }) => {
        const signature = await sign(usdc, payer().key);
        return `${signature.slice(0, -4)}${signature.slice(-4, -2) === "00" ? "01" : "00"}${signature.slice(-2)}`;
      },
    ],
  ] as [string, (offer: Offer) => Promise<string>][])("a signature %s", async ([, make]) => {
    const offer = await offered([`${A}:${payer().address}`, `${B}:${payer().address}`]);
    const signature = await make(offer);
    const refused = await changesNothing(doors.world.db, () =>
      confirm(offer.id, offer.usdc, result(signature)),
    );
    expectRefusal(refused, "/v1/gateway/", {
      ...BAD_SIGNATURE,
      message: /^Validation error: .*signature/,
    });
    expect((await api(door).status(offer.id)).body.status).toBe("requires_action");
    await pays(offer.id, offer.usdc);
  });
  test("a permit by another account", async () => {
    const offer = await offered();
    const wrong = await sign(offer.usdt, doors.world.buyer("usdt").key);
    const refused = await changesNothing(doors.world.db, () =>
      confirm(offer.id, offer.usdt, result(HASH), result(wrong)),
    );
    expectRefusal(refused, "/v1/gateway/", BAD_SIGNATURE);
    await pays(offer.id, offer.usdc);
  });

  // Guarantee: every spelling of the right signature that wallets use is taken.
  test.for([
    ["in capitals", (s) => [result(`0x${s.slice(2).toUpperCase()}`)]],
    [
      "with a recovery value of 0 or 1",
      (s) => [result(`${s.slice(0, -2)}${s.endsWith("1b") ? "00" : "01"}`)],
    ],
    [
      "in 64 bytes",
      (s) => {
        const v = s.endsWith("1b") ? 0n : 1n << 255n;
        return [
          result(
            `${s.slice(0, 66)}${(BigInt(`0x${s.slice(66, 130)}`) | v).toString(16).padStart(64, "0")}`,
          ),
        ];
      },
    ],
    ["with members nobody knows", (s) => [{ ...result(s), id: 1 }]],
  ] as [string, (signature: string) => unknown[]][])(
    "the right signature %s",
    async ([, results]) => {
      const { id, usdc } = await offered();
      const answer = await confirm(id, usdc, ...results(await sign(usdc, payer().key)));
      expect([answer.status, answer.body]).toEqual([
        200,
        { status: "processing", isFinal: false, pollInMs: 1000, info: null },
      ]);
      paid.push(id);
    },
  );
  test("a confirm with 100 kB of data", async () => {
    const { id, usdc } = await offered();
    const results = [result(await sign(usdc, payer().key))];
    const collectedData = { fields: [{ id: "note", value: "x".repeat(100_000) }] };
    const answer = await post(id, "confirm", { optionId: usdc.id, results, collectedData });
    expect([answer.status, answer.body.status]).toEqual([200, "processing"]);
    paid.push(id);
  });
});

// Guarantee: what was refused above stayed payable: every one of these payments is paid in the end, once each.
test("every payment that was refused a signature is paid with the right one", async () => {
  expect(paid.length).toBeGreaterThan(30);
  await doors.startWorker();
  const rows = await until(
    () =>
      doors.world.db.query<{ status: string; captures: number; attempts: number }>(
        `select p.status, (select count(*)::int from capture c where c.payment_id = p.id) as captures,
           (select count(*)::int from attempt a where a.payment_id = p.id) as attempts
         from payment p where p.id = any($1)`,
        [paid],
      ),
    (all) => all.every(({ status }) => status !== "processing"),
  );
  expect(rows.length).toBe(paid.length);
  for (const row of rows) expect(row).toEqual({ status: "succeeded", captures: 1, attempts: 1 });
  const [untouched] = await doors.world.db.query(
    `select status, version from payment where id = $1`,
    [open.id],
  );
  expect(untouched).toEqual({ status: "requires_action", version: 0 });
});
