import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, until, untilOffered } from "./api.ts";
import {
  type Call,
  changesNothing,
  DOORS,
  type Door,
  type Doors,
  expectCommonHeaders,
  expectRefusal,
  openDoors,
  send,
} from "./doors.ts";

const MISSING = "pay_00000000000000000000000000";
let doors: Doors;
let id: string;

beforeAll(async () => {
  doors = await openDoors();
  id = (await doors.at("front door").create()).body.paymentId;
});
afterAll(() => doors?.stop());

const wallet = () => doors.at("front door").gatewayHeaders;
const merchant = () => doors.at("front door").merchantHeaders("intermediary");
const NOT_FOUND = { status: 404, code: "payment_not_found" };
const UNREADABLE = { status: 400, code: "invalid_params" };
const NOTHING = { status: 404, code: "not_found" };

const once = encodeURIComponent;
const twice = (text: string) => once(once(text));

/** Links on our hosts: the pay host and what is under it, the checkout's and the API's. */
const LINKS: [string, (id: string) => string][] = [
  ["pay host, path", (pay) => `https://pay.florin.test/${pay}`],
  ["pay host, pid", (pay) => `https://pay.florin.test/?pid=${pay}`],
  ["pay host, pid among others", (pay) => `https://pay.florin.test/buy?a=b&pid=${pay}&c=d#e`],
  ["pay host in capitals", (pay) => `HTTPS://PAY.Florin.TEST/${pay}`],
  ["under the pay host", (pay) => `https://shop.pay.florin.test/${pay}`],
  ["checkout host", (pay) => `https://checkout.florin.test/${pay}`],
  ["base host", (pay) => `https://api.florin.test/?pid=${pay}`],
];
/** What only looks like one of ours, or names no payment. */
const FOREIGN: [string, (id: string) => string][] = [
  ["another host", (pay) => `https://pay.example/?pid=${pay}`],
  ["our host as a prefix", (pay) => `https://pay.florin.test.evil.example/${pay}`],
  ["our host as a suffix without a dot", (pay) => `https://evilpay.florin.test/${pay}`],
  ["under the checkout's host", (pay) => `https://evil.checkout.florin.test/${pay}`],
  ["our host as a user name", (pay) => `https://pay.florin.test@evil.example/${pay}`],
  ["our host behind a backslash", (pay) => `https://evil.example\\@pay.florin.test/${pay}`],
  [
    "our host in another's query",
    (pay) => `https://evil.example/?u=https://pay.florin.test/${pay}`,
  ],
  ["our host on another port", (pay) => `https://pay.florin.test:444/${pay}`],
  ["another scheme", (pay) => `javascript://pay.florin.test/${pay}`],
  ["a file", (pay) => `file://pay.florin.test/${pay}`],
  ["no host", (pay) => `https:///${pay}`],
  ["our host without an id", () => "https://pay.florin.test/"],
  [
    "our host with a wrong pid beside the right path",
    (pay) => `https://pay.florin.test/${pay}?pid=x`,
  ],
  ["an id and a query", (pay) => `${pay}?x=1`],
  ["an id in a folder", (pay) => `a/${pay}`],
  ["an id above", (pay) => `../${pay}`],
  ["an id and NUL", (pay) => `${pay}\u0000`],
  ["an id and a line break", (pay) => `${pay}\n`],
  ["an id with a blank", (pay) => ` ${pay}`],
  ["an id in lower case", (pay) => pay.toLowerCase()],
  ["an id cut short", (pay) => pay.slice(0, -1)],
  ["a prefix alone", () => "pay_"],
  ["an id of 5,000 characters", () => `pay_${"A".repeat(5_000)}`],
  ["full-width letters", (pay) => pay.replace("pay_", "ｐay_")],
  ["a quote", () => "pay_' or 1=1 --"],
];

describe.for(DOORS)("through the %s", (door) => {
  const ask = (path: string, headers: Record<string, string> = wallet()) =>
    send(doors.baseUrl(door), { path, headers });

  // Guarantee: a wallet that takes our link for an id reaches the payment, however often its kit encodes it.
  test.for(LINKS)("link: %s", async ([, link]) => {
    for (const segment of [once(link(id)), twice(link(id))]) {
      const seen = await ask(`/v1/gateway/payment/${segment}/status`);
      expect([seen.status, seen.body.status]).toEqual([200, "requires_action"]);
      const described = await ask(`/v1/gateway/payment/${segment}`);
      expect([described.status, described.body.amount?.value]).toEqual([200, "1250"]);
      const listed = await untilOffered(() =>
        send(doors.baseUrl(door), {
          method: "POST",
          path: `/v1/gateway/payment/${segment}/options`,
          headers: wallet(),
          body: { accounts: [`eip155:31337:${doors.world.buyer("usdc").address}`] },
        }),
      );
      expect([listed.status, listed.body.options?.length]).toEqual([200, 1]);
    }
  });
  test("a link to a payment that never was", async () => {
    const path = `/v1/gateway/payment/${twice(`https://pay.florin.test/?pid=${MISSING}`)}`;
    expectRefusal(await ask(path), path, NOT_FOUND);
  });

  // Guarantee: a link that is not on a host of ours is no payment, and neither is an id with anything around it.
  test.for(FOREIGN)("no link: %s", async ([, link]) => {
    for (const segment of [once(link(id)), twice(link(id))])
      for (const end of ["", "/status"]) {
        const path = `/v1/gateway/payment/${segment}${end}`;
        expectRefusal(await changesNothing(doors.world.db, () => ask(path)), path, NOT_FOUND);
      }
  });

  // Guarantee: merchants name payments by bare ids alone.
  test.for([...LINKS, ...FOREIGN])("merchant side: %s", async ([, link]) => {
    for (const [before, after] of [
      ["/v1/payments/", ""],
      ["/v1/merchant/payment/", "/status"],
    ]) {
      const path = `${before}${once(link(id))}${after}`;
      expectRefusal(await ask(path, merchant()), path, NOT_FOUND);
    }
  });
});

// Guarantee: a process that has not compared its chains yet says so, instead of offering nothing.
test("Next's first answer", () => {
  expectRefusal(doors.first, "/v1/payments/", { status: 503, code: "internal_error" });
  expect(doors.first.headers.get("retry-after")).toBe("1");
});

/** What an answer says, without what differs from one request to the next and what one door adds to every page it serves. */
function said({ status, headers, text }: Answer) {
  const own = ["content-type", "allow", "retry-after", "idempotent-replayed", "cache-control"];
  const kept = [...headers].filter(
    ([name]) =>
      own.includes(name) || name.endsWith("-version") || name.startsWith("access-control"),
  );
  return { status, text: text.replaceAll(headers.get("request-id") ?? "?", "(request)"), kept };
}

// Guarantee: both doors lead to the same service: what one answers, the other answers byte for byte.
test.for([
  ["a payment", () => ({ path: `/v1/payments/${id}`, headers: merchant() })],
  ["a status", () => ({ path: `/v1/merchant/payment/${id}/status`, headers: merchant() })],
  ["a description", () => ({ path: `/v1/gateway/payment/${id}`, headers: wallet() })],
  ["a gateway status", () => ({ path: `/v1/gateway/payment/${id}/status`, headers: wallet() })],
  ["a missing payment", () => ({ path: `/v1/payments/${MISSING}`, headers: merchant() })],
  ["no credentials", () => ({ path: `/v1/payments/${id}` })],
  [
    "another version",
    () => ({
      path: `/v1/payments/${id}`,
      headers: { ...merchant(), "api-version": "2026-02-19.preview" },
    }),
  ],
  [
    "a bad body",
    () => ({
      method: "POST",
      path: "/v1/merchant/payment",
      headers: merchant(),
      body: { amount: 1 },
    }),
  ],
  [
    "a large body",
    () => ({
      method: "POST",
      path: "/v1/merchant/payment",
      headers: merchant(),
      body: "x".repeat(70_000),
    }),
  ],
  [
    "a replayed create",
    () => ({
      method: "POST",
      path: "/v1/merchant/payment",
      headers: { ...merchant(), "Idempotency-Key": "both" },
      body: { amount: { unit: "iso4217/USD", value: "700" }, referenceId: "a" },
    }),
  ],
  [
    "options",
    () => ({
      method: "POST",
      path: `/v1/gateway/payment/${id}/options`,
      headers: wallet(),
      body: { accounts: [`eip155:31337:${doors.world.buyer("everything").address}`] },
    }),
  ],
  ["a preflight", () => ({ method: "OPTIONS", path: `/v1/gateway/payment/${id}/options` })],
] as [string, () => Call][])("both doors agree on %s", async ([, call]) => {
  // A chain that is too busy to answer offers nothing at that moment.
  const ask = (door: Door) =>
    until(
      () => send(doors.baseUrl(door), call()),
      ({ body }) => body.options?.length !== 0,
    );
  // Once before, so that whatever the first call makes is there for both.
  await ask("front door");
  const [front, next] = await Promise.all(DOORS.map(ask));
  if (front === undefined || next === undefined) throw new Error("no answers");
  expect(said(next)).toEqual(said(front));
});

describe("the front door alone", () => {
  const front = (call: Call) => send(doors.baseUrl("front door"), call);

  // Guarantee: leading slashes before v1 count as one, without a redirect that a POST would not survive.
  test.for(["//", "///"])("%s before v1", async (slashes) => {
    const read = await front({ path: `${slashes}v1/payments/${id}`, headers: merchant() });
    expect([read.status, read.body.referenceId]).toEqual([200, "order-1"]);
    const path = `${slashes}v1/gateway/payment/${id}/options?includePaymentInfo=true`;
    const body = { accounts: [`eip155:31337:${doors.world.buyer("usdc").address}`] };
    const listed = await untilOffered(() =>
      front({ method: "POST", path, headers: wallet(), body }),
    );
    expect([listed.status, listed.body.options.length, listed.body.info.status]).toEqual([
      200,
      1,
      "requires_action",
    ]);
    const refused = await front({ path: `${slashes}v1/payments/${id}` });
    expectRefusal(refused, "/v1/payments/", { status: 401, code: "missing_api_key" });
  });

  // Guarantee: a path that is not served says so in JSON, whatever it looks like.
  test.for([
    "/v1",
    "/v1/",
    "/v1/nothing",
    "/v1/payment",
    "/v1/payment/",
    "/v1/payments/pay_x/y",
    "/v1//payments/pay_x",
    "/v1/merchant",
    "/v1/merchant/payments",
    "/v1/merchant/payment//status",
    "/v1/merchant/payment/pay_x",
    "/v1/gateway/payment/",
    "/v1/gateway/payment//status",
    "/v1/gateway/payment/pay_x/refund",
    "/v1/gateway/payment/pay_x/status/more",
    "/V1/payments/pay_x",
    "/v1/Payments/pay_x",
    "/v1/__proto__",
    "/v1/constructor/x",
    "/v1/payments/../../etc/passwd",
    "/v1/%2e%2e/payments/pay_x",
    "/v1%2Fpayments%2Fpay_x",
    "/v1/payments;a=b/pay_x",
    "/v2/payments/pay_x",
    "/.git/config",
    "/",
    "/%00",
  ])("nothing at %s", async (path) => {
    const answer = await changesNothing(doors.world.db, () => front({ path, headers: wallet() }));
    expectRefusal(answer, path, NOTHING);
  });

  // Guarantee: escapes that decode to nothing are refused, and never reach the database.
  test.for(["%zz", "%", "pay_%", "%c3%28", "%ff", "pay_x%e0%80%af"])(
    "a bad escape: %s",
    async (end) => {
      for (const path of [`/v1/payments/${end}`, `/v1/gateway/payment/${end}/status`])
        expectRefusal(await front({ path, headers: { ...merchant() } }), path, UNREADABLE);
    },
  );

  // Guarantee: a method that a path does not have is told the ones it has, and does nothing.
  test.for([
    ["/v1/merchant/payment", "POST", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"]],
    ["/v1/merchant/payment/x/status", "GET", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]],
    ["/v1/payments/x", "GET", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]],
    ["/v1/gateway/payment/x", "GET", ["POST", "PUT", "PATCH", "DELETE", "PROPFIND"]],
    ["/v1/gateway/payment/x/status", "GET", ["POST", "PUT", "PATCH", "DELETE"]],
    ["/v1/gateway/payment/x/options", "POST", ["GET", "HEAD", "PUT", "PATCH", "DELETE"]],
    ["/v1/gateway/payment/x/fetch", "POST", ["GET", "HEAD", "PUT", "PATCH", "DELETE"]],
    ["/v1/gateway/payment/x/confirm", "POST", ["GET", "HEAD", "PUT", "PATCH", "DELETE"]],
  ] as const)("methods of %s", async ([path, takes, others]) => {
    for (const method of others) {
      const answer = await front({ method, path, headers: wallet() });
      expect(answer.status).toBe(405);
      expect(answer.headers.get("allow")?.split(", ")).toContain(takes);
      expectCommonHeaders(answer, path.startsWith("/v1/gateway/"));
      if (method !== "HEAD") expectRefusal(answer, path, { status: 405, code: "invalid_params" });
    }
  });

  // Guarantee: HEAD answers what GET would, without its body.
  test("HEAD", async () => {
    for (const [path, headers] of [
      [`/v1/payments/${id}`, merchant()],
      [`/v1/gateway/payment/${id}/status`, wallet()],
      [`/v1/payments/${MISSING}`, merchant()],
    ] as const) {
      const [head, get] = [
        await front({ method: "HEAD", path, headers }),
        await front({ path, headers }),
      ];
      expect([head.status, head.text]).toEqual([get.status, ""]);
      expect(head.headers.get("content-length")).toBe(get.headers.get("content-length"));
      expectCommonHeaders(head, path.startsWith("/v1/gateway/"));
    }
  });
});

const WITHIN_MS = 10_000;

/** Sends bytes as they are and reads until the other side hangs up. */
function raw(door: Door, bytes: string): Promise<Answer> {
  const { hostname, port } = new URL(doors.baseUrl(door));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.write(bytes, "latin1"));
    socket.setTimeout(WITHIN_MS, () => socket.destroy(new Error("no answer in time")));
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("end", () => {
      const [head = "", ...rest] = Buffer.concat(chunks).toString("utf8").split("\r\n\r\n");
      const [line = "", ...lines] = head.split("\r\n");
      const text = rest.join("\r\n\r\n");
      const headers = new Headers(lines.map((one) => one.split(/: ?(.*)/s, 2) as [string, string]));
      resolve({ status: Number(line.split(" ")[1]), headers, text, body: JSON.parse(text) });
    });
  });
}

const get = (target: string, lines: string[] = []) =>
  [`GET ${target} HTTP/1.1`, "Host: florin.test", "Connection: close", ...lines, "", ""].join(
    "\r\n",
  );

// Guarantee: bytes that are no request, or no request of ours, are answered in the same shape as everything else.
test.for([
  ["no HTTP", () => "hello\r\n\r\n", 400],
  ["a control character in a header", () => get("/v1/payments/x", ["Api-Key: a\u0000b"]), 400],
  ["a header without a name", () => get("/v1/payments/x", [": x"]), 400],
  ["a header name with a blank", () => get("/v1/payments/x", ["Api Key: x"]), 400],
  ["two lengths", () => get("/v1/payments/x", ["Content-Length: 1", "Content-Length: 2"]), 400],
  [
    "a length and chunks",
    () => get("/v1/payments/x", ["Content-Length: 1", "Transfer-Encoding: chunked"]),
    400,
  ],
  ["a head of 64 kB", () => get("/v1/payments/x", [`Api-Key: ${"a".repeat(65_536)}`]), 431],
  ["a target that is no path", () => get("payments"), 400],
  ["an asterisk", () => get("*"), 400],
  ["a host that is none", () => get("/v1/nothing").replace("florin.test", "a b/c?d"), 400],
] as [string, () => string, number][])("raw bytes: %s", async ([, bytes, status]) => {
  const answer = await changesNothing(doors.world.db, () => raw("front door", bytes()));
  expectRefusal(answer, "/v1/", { status, code: "invalid_params" });
});

// Guarantee: a proxy's absolute target is the same path.
test("an absolute target", async () => {
  const headers = Object.entries(merchant()).map(([name, value]) => `${name}: ${value}`);
  const answer = await raw("front door", get(`http://florin.test/v1/payments/${id}?a=b`, headers));
  expect([answer.status, answer.body.referenceId]).toEqual([200, "order-1"]);
});
