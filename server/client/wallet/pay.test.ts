import { describe, expect, test } from "vitest";
import { openPayment } from "./client.ts";
import { ActionDeclined, type Executors, MaybeSent } from "./executors.ts";
import { adviceFor } from "./outcome.ts";
import { type PaySettings, pay } from "./pay.ts";
import { type Scripted, START_MS, scriptedGateway, virtualTime } from "./test-support.ts";

const START_S = START_MS / 1000;
const CHAIN = "eip155:31337";
const ACCOUNT = `${CHAIN}:0x00000000000000000000000000000000000000aa`;
const TX = `0x${"7".repeat(64)}`;
const display = (assetSymbol: string) => ({ assetName: assetSymbol, assetSymbol, decimals: 6 });
const AMOUNT = { unit: `caip19/${CHAIN}/erc20:0x01`, value: "1250000", display: display("USDC") };

const rpc = (method: string, params: unknown = [], chain_id = CHAIN) => ({
  type: "walletRpc",
  data: { chain_id, method, params },
});
const option = (actions: unknown[], more: Record<string, unknown> = {}) => ({
  id: "opt_1",
  account: ACCOUNT,
  amount: AMOUNT,
  etaS: 1,
  expiresAt: null,
  actions,
  collectData: null,
  ...more,
});
const payment = (status = "requires_action", expiresAt = START_S + 900) => ({
  status,
  amount: { unit: "iso4217/USD", value: "125", display: display("USD") },
  expiresAt,
  merchant: { name: "Demo Shop" },
});
const offer = (options: unknown[], info = payment(), collectData: unknown = null): Scripted => ({
  status: 200,
  body: { options, info, collectData },
});
const standing = (status: string, more: Record<string, unknown> = {}): Scripted => ({
  status: 200,
  body: {
    status,
    isFinal: ["succeeded", "failed", "expired", "cancelled"].includes(status),
    pollInMs: 1000,
    ...more,
  },
});
const PROCESSING = standing("processing");
const PAID = standing("succeeded", { info: { txId: TX, optionAmount: AMOUNT } });
const refusal = (status: number, code: string): Scripted => ({
  status,
  body: { code, message: `refused with ${code}`, requestId: "req_1" },
});
const SIGN = rpc("eth_signTypedData_v4", ["0xaa", "{}"]);
const SEND = rpc("eth_sendTransaction", [{ to: "0x01" }]);

/** Runs one payment; `log` says which actions ran, in order. */
function setUp(script: Record<string, Scripted[]>, more: Partial<PaySettings> = {}) {
  const time = virtualTime();
  const gateway = scriptedGateway(time, script);
  const client = openPayment(
    {
      baseUrl: "https://api.example.com",
      credentials: { apiKey: "gk_test_1" },
      fetch: gateway.fetch,
      timers: time,
      random: () => 0,
    },
    "pay_1",
  );
  const log: string[] = [];
  const noting = (name: string, output: string) => async (params: unknown[]) => {
    log.push(`${name} ${JSON.stringify(params)}`);
    return output;
  };
  const executors: Executors = {
    eip155: {
      eth_signTypedData_v4: noting("sign", "0xsig"),
      eth_sendTransaction: noting("send", TX),
      personal_sign: noting("prove", "0xproof"),
    },
    solana: { solana_signTransaction: noting("solana", "base64") },
  };
  const settings: PaySettings = {
    client,
    accounts: [ACCOUNT],
    executors,
    chooseOption: ([first]) => first ?? null,
    ...more,
  };
  return { time, ...gateway, client, log, settings, run: () => time.run(pay(settings)) };
}

const SUCCEEDED = { kind: "succeeded", txId: TX, earlier: false };

describe("the whole flow", () => {
  // Guarantee: actions run one after the other in their order, each by its namespace and method, and results keep it.
  test("executes every action in order and aligns the results", async () => {
    const { run, log, calls, named } = setUp({
      "POST options": [
        offer([
          option([rpc("personal_sign", ["0x68", "0xaa"]), { type: "build", data: { data: "b" } }]),
        ]),
      ],
      "POST fetch": [
        {
          status: 200,
          body: { actions: [SEND, rpc("solana_signTransaction", [], "solana:x"), SIGN] },
        },
      ],
      "POST confirm": [PAID],
    });
    expect(await run()).toMatchObject(SUCCEEDED);
    expect(log).toEqual([
      'prove ["0x68","0xaa"]',
      'send [{"to":"0x01"}]',
      "solana []",
      'sign ["0xaa","{}"]',
    ]);
    expect(named()).toEqual(["POST options", "POST fetch", "POST confirm"]);
    expect(calls[2]?.body).toEqual({
      optionId: "opt_1",
      results: ["0xproof", TX, "base64", "0xsig"].map((output) => ({
        type: "walletRpc",
        data: [output],
      })),
    });
  });

  // Guarantee: an approval is not sent when the signature after it cannot be made.
  test("nothing runs when one action has no executor", async () => {
    const { run, log } = setUp({
      "POST options": [offer([option([{ type: "build", data: { data: "b" } }])])],
      "POST fetch": [{ status: 200, body: { actions: [SEND, rpc("eth_sign")] } }],
    });
    expect(await run()).toEqual({ kind: "no_option", reason: "not_executable" });
    expect(log).toEqual([]);
  });

  // Guarantee: names from the network never reach something that is no executor.
  test.for(["constructor", "toString", "__proto__"])("method %s is no executor", async (method) => {
    const { run } = setUp({ "POST options": [offer([option([rpc(method)])])] });
    expect(await run()).toEqual({ kind: "no_option", reason: "not_executable" });
  });

  // Guarantee: the user chooses only among what this wallet can carry out.
  test("options that need an unknown action are not offered", async () => {
    let offered: string[] = [];
    const { run } = setUp(
      {
        "POST options": [
          offer([
            option([{ type: "teleport", data: {} }], { id: "a" }),
            option([rpc("tron_signTransaction", [], "tron:x1")], { id: "b" }),
            option([SIGN], { id: "c" }),
          ]),
        ],
      },
      {
        chooseOption: (options) => {
          offered = options.map(({ id }) => id);
          return null;
        },
      },
    );
    expect(await run()).toEqual({ kind: "no_option", reason: "none_chosen" });
    expect(offered).toEqual(["c"]);
  });

  // Guarantee: a payer without funds is told so.
  test("no options", async () => {
    const { run } = setUp({ "POST options": [offer([])] });
    const outcome = await run();
    expect(outcome).toEqual({ kind: "no_option", reason: "none_offered" });
    expect(adviceFor(outcome)).toContain("insufficient funds");
  });
});

describe("data", () => {
  const collectData = { url: "https://pay.example.com/collect", schema: { a: 1 }, fields: [] };
  const script = {
    "POST options": [offer([option([SIGN], { collectData })], payment(), collectData)],
    "POST confirm": [PAID],
  };

  // Guarantee: a wallet without a form learns which page to show, before anything is signed.
  test("is asked for where the wallet has no way to collect it", async () => {
    const { run, log } = setUp(script);
    expect(await run()).toMatchObject({
      kind: "data_needed",
      url: "https://pay.example.com/collect",
      schema: { a: 1 },
    });
    expect(log).toEqual([]);
  });

  // Guarantee: a wallet opens no page that is none, since it would give it a bridge into itself.
  test.for(["javascript:alert(1)", "http://pay.example.com/x", "data:text/html,x", "x"])(
    "%s is no page",
    async (url) => {
      const { run, log } = setUp({
        "POST options": [offer([option([SIGN], { collectData: { url, schema: {} } })])],
      });
      expect(await run()).toMatchObject({ kind: "unavailable" });
      expect(log).toEqual([]);
    },
  );

  // Guarantee: data the page already sent is not sent a second time by the wallet.
  test.for([
    [{ kind: "submitted" as const }, undefined],
    [
      { kind: "fields" as const, fields: [{ id: "fullName", value: "A B" }] },
      { fields: [{ id: "fullName", value: "A B" }] },
    ],
  ] as const)("%j", async ([answer, expected]) => {
    const { run, calls } = setUp(script, {
      collectData: async () =>
        answer.kind === "fields" ? { kind: "fields", fields: [...answer.fields] } : answer,
    });
    expect(await run()).toMatchObject(SUCCEEDED);
    expect(calls[1]?.body).toEqual({
      optionId: "opt_1",
      results: [{ type: "walletRpc", data: ["0xsig"] }],
      ...(expected === undefined ? {} : { collectedData: expected }),
    });
  });

  // Guarantee: who does not want to tell does not pay by accident.
  test("a declined form ends it", async () => {
    const { run, log } = setUp(script, { collectData: async () => ({ kind: "declined" }) });
    expect(await run()).toMatchObject({ kind: "refused", by: "wallet" });
    expect(log).toEqual([]);
  });

  // Guarantee: an option that needs nothing is paid without a form although others need one.
  test("is skipped for an option without a request", async () => {
    const { run } = setUp({
      ...script,
      "POST options": [offer([option([SIGN])], payment(), collectData)],
    });
    expect(await run()).toMatchObject(SUCCEEDED);
  });
});

describe("expiry", () => {
  // Guarantee: the user is warned in time, and once per threshold.
  test("warns 120 and 10 seconds before the end", async () => {
    const warnings: [number, number][] = [];
    const fixture = setUp(
      { "POST options": [offer([option([SIGN])], payment("requires_action", START_S + 300))] },
      {
        chooseOption: async ([first]) => {
          await fixture.time.sleep(295_000);
          return first ?? null;
        },
        onExpiryWarning: (secondsLeft) => {
          warnings.push([fixture.time.elapsed(), secondsLeft]);
        },
      },
    );
    fixture.settings.executors = {
      eip155: { eth_signTypedData_v4: async () => Promise.reject(new ActionDeclined("no")) },
    };
    await fixture.run();
    expect(warnings).toEqual([
      [180_000, 120],
      [290_000, 10],
    ]);
  });

  // Guarantee: a payment opened late warns at once instead of never; the quote's deadline counts too.
  test("warns at once when less is left, and for the quote of the option", async () => {
    const warnings: number[] = [];
    const { run } = setUp(
      {
        "POST options": [offer([option([SIGN], { expiresAt: START_S + 50 })])],
        "POST confirm": [PAID],
      },
      { onExpiryWarning: (secondsLeft) => warnings.push(secondsLeft), warnAtSeconds: [60, 5] },
    );
    expect(await run()).toMatchObject(SUCCEEDED);
    expect(warnings).toEqual([50]);
  });

  // Guarantee: a deadline gone by is an outcome, not a warning.
  test("does not warn of what is over", async () => {
    const warnings: number[] = [];
    const { run } = setUp(
      { "POST options": [offer([option([SIGN])], payment("requires_action", START_S - 1))] },
      { onExpiryWarning: (secondsLeft) => warnings.push(secondsLeft) },
    );
    expect(await run()).toMatchObject({ kind: "expired" });
    expect(warnings).toEqual([]);
  });

  // Guarantee: nothing is signed or submitted after the deadline, wherever the time went.
  test.for([
    ["payment", payment("requires_action", START_S + 60), null, "expired"],
    ["quote", payment(), START_S + 60, "quote_expired"],
  ] as const)("no fetch after the %s's deadline", async ([, info, expiresAt, kind]) => {
    const fixture = setUp(
      { "POST options": [offer([option([], { expiresAt })], info)] },
      {
        chooseOption: async ([first]) => {
          await fixture.time.sleep(60_000);
          return first ?? null;
        },
      },
    );
    expect(await fixture.run()).toMatchObject({ kind });
    expect(fixture.named()).toEqual(["POST options"]);
  });

  // Guarantee: nothing is signed with a deadline gone by.
  test("no further action and no confirm once a signature took too long", async () => {
    const fixture = setUp({
      "POST options": [
        offer([option([rpc("personal_sign"), SIGN])], payment("requires_action", START_S + 60)),
      ],
    });
    const { time, log } = fixture;
    fixture.settings.executors = {
      eip155: {
        personal_sign: async () => {
          await time.sleep(60_000);
          return "0xproof";
        },
        eth_signTypedData_v4: async () => {
          log.push("sign");
          return "0xsig";
        },
      },
    };
    expect(await fixture.run()).toMatchObject({ kind: "expired", startOver: "new_link" });
    expect(log).toEqual([]);
    expect(fixture.named()).toEqual(["POST options"]);
  });

  // Guarantee: the deadline is the server's, not that of a phone whose clock is behind.
  test("a phone that is two minutes late does not submit late", async () => {
    const late = new Date(START_MS + 120_000).toUTCString();
    const body = { options: [option([SIGN])], info: payment("requires_action", START_S + 100) };
    const { run, log } = setUp({
      "POST options": [{ status: 200, body, headers: { Date: late } }],
    });
    expect(await run()).toMatchObject({ kind: "expired" });
    expect(log).toEqual([]);
  });

  // Guarantee: a transaction that is already on its way is reported whatever the time.
  test("a broadcast payment is confirmed even after the deadline", async () => {
    const fixture = setUp({
      "POST options": [offer([option([SEND])], payment("requires_action", START_S + 60))],
      "POST confirm": [PAID],
    });
    fixture.settings.executors = {
      eip155: {
        eth_sendTransaction: async () => {
          await fixture.time.sleep(61_000);
          return TX;
        },
      },
    };
    expect(await fixture.run()).toMatchObject(SUCCEEDED);
  });
});

describe("refusals", () => {
  // Guarantee: 410 and 409 are said plainly, with what to start over with; other refusals keep the service's words.
  test.for([
    ["POST options", 410, "payment_expired", { kind: "expired", startOver: "new_link" }],
    ["POST fetch", 410, "payment_expired", { kind: "expired", startOver: "new_link" }],
    ["POST confirm", 410, "payment_expired", { kind: "expired", startOver: "new_link" }],
    ["POST fetch", 409, "quote_expired", { kind: "quote_expired", startOver: "same_link" }],
    ["POST confirm", 409, "quote_expired", { kind: "quote_expired", startOver: "same_link" }],
    ["POST options", 451, "sanctioned_user", { kind: "refused", code: "sanctioned_user" }],
    ["POST fetch", 400, "invalid_state", { kind: "refused", code: "invalid_state" }],
    ["POST confirm", 422, "params_validation", { kind: "refused", requestId: "req_1" }],
    ["POST confirm", 429, "rate_limited", { kind: "refused", code: "rate_limited" }],
  ] as const)("%s answered %i", async ([name, status, code, expected]) => {
    const { run, named } = setUp({
      "POST options": [offer([option([])])],
      "POST fetch": [{ status: 200, body: { actions: [SIGN] } }],
      [name]: [refusal(status, code)],
    });
    expect(await run()).toMatchObject(expected);
    expect(named().filter((call) => call === name)).toHaveLength(1);
  });

  // Guarantee: a "no" in the wallet ends the payment attempt and submits nothing.
  test.for([
    new ActionDeclined("not today"),
    Object.assign(new Error("not today"), { code: 4001 }),
  ])("%s", async (error) => {
    const { run, named, settings } = setUp({ "POST options": [offer([option([SEND])])] });
    settings.executors = { eip155: { eth_sendTransaction: () => Promise.reject(error) } };
    expect(await run()).toMatchObject({
      kind: "refused",
      by: "wallet",
      message: "eth_sendTransaction: not today",
    });
    expect(named()).toEqual(["POST options"]);
  });

  // Guarantee: a transaction that may have left the wallet is never reported as "nothing was paid".
  test("a broadcast that ended in an error is unknown, one before the last is not", async () => {
    const { run, settings } = setUp({
      "POST options": [offer([option([SEND])]), offer([option([SEND, SIGN])])],
    });
    const broken = () => Promise.reject(new Error("socket closed"));
    settings.executors = { eip155: { eth_sendTransaction: broken, eth_signTypedData_v4: broken } };
    expect(await run()).toMatchObject({ kind: "unknown", message: "socket closed" });
    expect(await run()).toMatchObject({ kind: "refused", by: "wallet" });
  });

  // Guarantee: a hash is never lost: what may be out is told to the service as what is out.
  test("a broadcast that may have gone out is confirmed with its hash", async () => {
    const { run, settings, calls } = setUp({
      "POST options": [offer([option([SEND])])],
      "POST confirm": [PAID],
    });
    const maybe = () => Promise.reject(new MaybeSent(TX, "socket closed"));
    settings.executors = { eip155: { eth_sendTransaction: maybe } };
    expect(await run()).toMatchObject({ ...SUCCEEDED, sent: TX });
    expect(calls[1]?.body).toMatchObject({ results: [{ data: [TX] }] });
  });

  // Guarantee: an executor may throw before it gives a promise.
  test("an executor that throws at once", async () => {
    const { run, settings } = setUp({ "POST options": [offer([option([SEND])])] });
    const throwing = (error: Error) => () => {
      throw error;
    };
    const send = (error: Error) => ({ eip155: { eth_sendTransaction: throwing(error) } });
    settings.executors = send(new ActionDeclined("no"));
    expect(await run()).toMatchObject({ kind: "refused", by: "wallet" });
    settings.executors = send(new Error("broken"));
    expect(await run()).toMatchObject({ kind: "unknown" });
  });

  // Guarantee: what only shows the flow cannot keep a payment from being handed in.
  test("a display that throws", async () => {
    const broken = () => {
      throw new Error("no screen");
    };
    const { run } = setUp(
      { "POST options": [offer([option([SEND])])], "POST confirm": [PAID] },
      { onProgress: broken, onExpiryWarning: broken, warnAtSeconds: [1000] },
    );
    expect(await run()).toMatchObject(SUCCEEDED);
  });

  // Guarantee: closing the wallet while it sends keeps nobody from hearing of the money.
  test("aborted while it was sent", async () => {
    const stop = new AbortController();
    const { run, settings, named } = setUp(
      { "POST options": [offer([option([SEND])])], "POST confirm": [PROCESSING] },
      { signal: stop.signal },
    );
    const send = async () => {
      stop.abort(new Error("closed"));
      return TX;
    };
    settings.executors = { eip155: { eth_sendTransaction: send } };
    await expect(run()).rejects.toThrow("closed");
    expect(named()).toEqual(["POST options", "POST confirm"]);
  });

  // Guarantee: signals without what newer platforms gave them work too.
  test("a platform whose signals cannot throw", async () => {
    const { throwIfAborted } = AbortSignal.prototype;
    Reflect.deleteProperty(AbortSignal.prototype, "throwIfAborted");
    try {
      const stop = new AbortController();
      const { run } = setUp(
        {
          "POST options": [offer([option([SEND])])],
          "POST confirm": [PROCESSING],
          "GET status": [PAID],
        },
        { signal: stop.signal },
      );
      expect(await run()).toMatchObject(SUCCEEDED);
    } finally {
      AbortSignal.prototype.throwIfAborted = throwIfAborted;
    }
  });

  // Guarantee: nothing is signed for an account that was not asked for.
  test("an option of another account", async () => {
    const account = ACCOUNT.replace("aa", "bb");
    const { run, log } = setUp({ "POST options": [offer([option([SIGN], { account })])] });
    expect(await run()).toEqual({ kind: "no_option", reason: "not_executable" });
    expect(log).toEqual([]);
  });

  // Guarantee: a dead service before anything was submitted is called just that.
  test.for(["connection lost", { status: 503, body: {} }] as const)("%j", async (line) => {
    const { run } = setUp({ "POST options": [line] });
    expect(await run()).toMatchObject({ kind: "unavailable" });
  });
});

describe("waiting for the end", () => {
  const options = { "POST options": [offer([option([SIGN])])] };

  // Guarantee: both ways of asking that exist in the field lead to the end.
  test("by status: confirm goes once", async () => {
    const { run, calls, named } = setUp({
      ...options,
      "POST confirm": [standing("processing", { pollInMs: 700 })],
      "GET status": [standing("processing", { pollInMs: 1500 }), PAID],
    });
    expect(await run()).toMatchObject({ ...SUCCEEDED, paid: { value: "1250000" } });
    expect(named()).toEqual(["POST options", "POST confirm", "GET status", "GET status"]);
    expect(calls.map(({ atMs }) => atMs)).toEqual([0, 0, 700, 2200]);
    expect(calls[2]?.query).toBe("?maxPollMs=20000");
  });

  // Guarantee: wallets that repeat confirm get there too, with the same body every time.
  test("by confirm: the same call is repeated", async () => {
    const { run, calls, named } = setUp(
      { ...options, "POST confirm": [PROCESSING, PROCESSING, PAID] },
      { pollBy: "confirm", maxPollMs: 5000 },
    );
    expect(await run()).toMatchObject(SUCCEEDED);
    expect(named()).toEqual(["POST options", ...Array(3).fill("POST confirm")]);
    expect(calls[3]).toMatchObject({ atMs: 2000, query: "?maxPollMs=5000", body: calls[1]?.body });
  });

  // Guarantee: every final status has its own outcome.
  test.for([
    ["failed", { kind: "failed", failureCode: "broadcast_failed" }],
    ["expired", { kind: "expired", startOver: "new_link" }],
    ["cancelled", { kind: "cancelled" }],
  ] as const)("%s", async ([status, expected]) => {
    const answers = {
      "POST confirm": [PROCESSING],
      "GET status": [standing(status, { failureCode: "broadcast_failed" })],
    };
    const signed = setUp({ ...options, ...answers });
    expect(await signed.run()).toEqual({ ...expected, sent: null });
    // Who has sent money is told of the money, and not to begin again.
    const sending = setUp({ "POST options": [offer([option([SEND])])], ...answers });
    const outcome = await sending.run();
    expect(outcome).toEqual({ ...expected, sent: TX });
    expect(adviceFor(outcome)).toContain(`This wallet had sent ${TX}`);
    expect(adviceFor(outcome)).not.toMatch(/start again|new payment link/i);
  });

  // Guarantee: a payment that another transaction paid does not hide the one this wallet sent.
  test("succeeded by somebody else's transaction", async () => {
    const other = { txId: `0x${"8".repeat(64)}`, optionAmount: AMOUNT };
    const { run } = setUp({
      "POST options": [offer([option([SEND])])],
      "POST confirm": [refusal(400, "invalid_state")],
      "GET status": [standing("succeeded", { info: other })],
    });
    const outcome = await run();
    expect(outcome).toMatchObject({ kind: "succeeded", txId: other.txId, sent: TX });
    expect(adviceFor(outcome)).toContain("the shop has the money twice");
  });

  // Guarantee: a slow chain is not a failure.
  test("ends as processing when the time is over", async () => {
    const { run, time } = setUp(
      { ...options, "POST confirm": [PROCESSING], "GET status": [PROCESSING] },
      { timeoutMs: 30_000 },
    );
    expect(await run()).toEqual({ kind: "processing", status: "processing" });
    expect(time.elapsed()).toBe(30_000);
  });

  // Guarantee: a confirm whose answer was lost is repeated byte for byte until it is answered.
  test("a lost confirm is sent again", async () => {
    const lost = Array<Scripted>(4).fill("connection lost");
    const { run, calls, named } = setUp({
      ...options,
      "POST confirm": [...lost, PROCESSING],
      "GET status": [PAID],
    });
    expect(await run()).toMatchObject(SUCCEEDED);
    expect(named()).toEqual(["POST options", ...Array(5).fill("POST confirm"), "GET status"]);
    expect(new Set(calls.slice(1, 6).map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });

  // Guarantee: no trouble after a confirm is ever called a failure of the payment.
  test.for([
    "connection lost",
    { status: 500, body: {} },
    { status: 200, body: "<html>" },
  ] as const)("%j for ever ends as unknown", async (line) => {
    const { run, time } = setUp({ ...options, "POST confirm": [line] }, { timeoutMs: 60_000 });
    const outcome = await run();
    expect(outcome).toMatchObject({ kind: "unknown", lastStatus: null, transactions: [] });
    expect(adviceFor(outcome)).toContain("Do not pay again");
    expect(time.elapsed()).toBe(60_000);
  });

  // Guarantee: what was last known is kept when contact is lost.
  test("lost contact after an accepted confirm ends as unknown with the last status", async () => {
    const { run } = setUp(
      { ...options, "POST confirm": [PROCESSING], "GET status": ["connection lost"] },
      { timeoutMs: 60_000 },
    );
    expect(await run()).toMatchObject({ kind: "unknown", lastStatus: "processing" });
  });

  // Guarantee: a disturbance that is over leaves no doubt behind.
  test("a payment heard of again ends as processing, not as unknown", async () => {
    const { run } = setUp(
      { ...options, "POST confirm": [PROCESSING], "GET status": [refusal(429, "x"), PROCESSING] },
      { timeoutMs: 30_000 },
    );
    expect(await run()).toEqual({ kind: "processing", status: "processing" });
  });

  // Guarantee: an accepted confirm stays accepted, whatever a repetition of it is answered.
  test.for([400, 409, 410, 429])("a repeated confirm answered %i", async (status) => {
    const { run } = setUp(
      { ...options, "POST confirm": [PROCESSING, refusal(status, "x"), PAID] },
      { pollBy: "confirm" },
    );
    expect(await run()).toMatchObject(SUCCEEDED);
  });

  // Guarantee: a refusal of the wait itself says nothing about the payment.
  test.for([429, 401])("a status call answered %i is asked again", async (status) => {
    const { run } = setUp({
      ...options,
      "POST confirm": [PROCESSING],
      "GET status": [refusal(status, "x"), PAID],
    });
    expect(await run()).toMatchObject(SUCCEEDED);
  });

  // Guarantee: after a lost confirm only an answer about the payment itself ends the wait.
  test.for([
    [410, "expired"],
    [409, "quote_expired"],
    [422, "refused"],
    [401, "succeeded"],
    [451, "succeeded"],
    [429, "succeeded"],
  ] as const)("a lost confirm, then %i", async ([status, kind]) => {
    for (const losses of [1, 4]) {
      const lost = Array<Scripted>(losses).fill("connection lost");
      const { run, named } = setUp({
        ...options,
        "POST confirm": [...lost, refusal(status, "x"), PAID],
        "GET status": [PAID],
      });
      expect(await run()).toMatchObject({ kind });
      // What was refused is not sent again, unless it came too often.
      const confirms = named().filter((name) => name === "POST confirm");
      expect(confirms).toHaveLength(losses + (status === 429 ? 2 : 1));
    }
  });

  // Guarantee: a service that wants to be left alone for a while is.
  test("a confirm answered 429 waits as long as it is asked to", async () => {
    const busy = { status: 429, body: { message: "x" }, headers: { "Retry-After": "30" } };
    const { run, calls } = setUp({
      "POST options": [offer([option([SEND])])],
      "POST confirm": [busy, busy, PAID],
    });
    expect(await run()).toMatchObject(SUCCEEDED);
    expect(calls.map(({ atMs }) => atMs)).toEqual([0, 0, 30_000, 60_000]);
  });

  // Guarantee: a service that knows no status is asked by the confirm, as the protocol has it.
  test("without a status to ask for", async () => {
    const { run, named } = setUp({
      ...options,
      "POST confirm": [PROCESSING, PROCESSING, PAID],
      "GET status": [refusal(404, "not_found")],
    });
    expect(await run()).toMatchObject(SUCCEEDED);
    expect(named().slice(1)).toEqual([
      "POST confirm",
      "GET status",
      "POST confirm",
      "POST confirm",
    ]);
  });

  // Guarantee: an unanswered confirm is not submitted again after the deadline; the status tells.
  test("after the deadline a lost confirm is looked up, not repeated", async () => {
    const { run, calls } = setUp({
      "POST options": [offer([option([SIGN])], payment("requires_action", START_S + 5))],
      "POST confirm": ["connection lost"],
      "GET status": [standing("requires_action"), standing("expired")],
    });
    expect(await run()).toMatchObject({ kind: "expired" });
    const late = calls.filter(({ path, atMs }) => path.endsWith("confirm") && atMs >= 5000);
    expect(late).toEqual([]);
  });

  // Guarantee: nor by the retries of one call, however long the service keeps silent.
  test("a silent service gets no confirm after the deadline", async () => {
    const { run, calls } = setUp({
      "POST options": [offer([option([SIGN])], payment("requires_action", START_S + 10))],
      "POST confirm": ["silence"],
      "GET status": [standing("expired")],
    });
    expect(await run()).toMatchObject({ kind: "expired", sent: null });
    expect(calls.filter(({ path }) => path.endsWith("confirm"))).toHaveLength(1);
  });

  // Guarantee: money that was sent is followed to the end even when the service refuses to hear of it.
  test.for([400, 409, 410, 422])(
    "a broadcast payment whose confirm is answered %i",
    async (status) => {
      const { run, named } = setUp({
        "POST options": [offer([option([SEND])])],
        "POST confirm": [refusal(status, "invalid_state")],
        "GET status": [standing("requires_action"), PAID],
      });
      expect(await run()).toMatchObject(SUCCEEDED);
      expect(named().filter((name) => name === "POST confirm")).toHaveLength(1);
    },
  );

  // Guarantee: the user keeps the hash of what was sent, to show it to the shop.
  test("a broadcast payment nobody finds ends as unknown with its hash", async () => {
    const { run } = setUp(
      {
        "POST options": [offer([option([SEND])])],
        "POST confirm": [refusal(400, "invalid_state")],
        "GET status": [standing("requires_action")],
      },
      { timeoutMs: 60_000 },
    );
    expect(await run()).toEqual({
      kind: "unknown",
      lastStatus: "requires_action",
      message: "refused with invalid_state",
      transactions: [TX],
      submission: expect.objectContaining({ outputs: [TX], moneyMayHaveMoved: true }),
    });
  });

  // Guarantee: opening a link again after an interrupted attempt shows how that one ended.
  test.for([
    ["processing", [PROCESSING, PAID], { kind: "succeeded", earlier: true, txId: TX }],
    ["succeeded", [PAID], { kind: "succeeded", earlier: true, txId: TX }],
    ["cancelled", [standing("cancelled")], { kind: "cancelled" }],
  ] as const)(
    "a payment that is already %s is not paid again",
    async ([status, lines, expected]) => {
      const { run, log } = setUp({
        "POST options": [offer([], payment(status))],
        "GET status": [...lines],
      });
      expect(await run()).toMatchObject(expected);
      expect(log).toEqual([]);
    },
  );

  // Guarantee: closing the wallet ends the wait at once.
  test("aborting rejects with the caller's reason", async () => {
    const stop = new AbortController();
    const { run, time } = setUp(
      { ...options, "POST confirm": [PROCESSING], "GET status": ["silence"] },
      { signal: stop.signal },
    );
    time.after(3000, () => stop.abort(new Error("closed")));
    await expect(run()).rejects.toThrow("closed");
    expect(time.elapsed()).toBe(3000);
  });
});
