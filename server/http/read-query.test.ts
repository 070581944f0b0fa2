import { expect, test } from "vitest";
import { listMerchants } from "#server/contract/merchants.ts";
import { listPayments } from "#server/contract/payment-list.ts";
import { AppError } from "#server/platform/app-error.ts";
import { readCursor, writeCursor } from "./page-cursor.ts";
import { readQuery } from "./read-query.ts";

const read = (query: string) => readQuery(listPayments.query, `/v1/payments?${query}`);

/** The member a refusal names; throws when there is none. */
function refused(work: () => unknown): string | undefined {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError && error.code === "invalid_params")
      return error.issues?.[0]?.field;
    throw error;
  }
  throw new Error("nothing was refused");
}

// Guarantee: a parameter whose shape is a list may come often or once; all others come once at most.
test("only lists may be repeated", () => {
  expect(read("status=failed").status).toEqual(["failed"]);
  expect(read("status=failed&status=expired&x=1&x=2").status).toEqual(["failed", "expired"]);
  expect(read("token_symbol=A&merchantId=m&merchantId=n")).toMatchObject({
    token_symbol: ["A"],
    merchantId: ["m", "n"],
  });
  expect(refused(() => read("limit=5&limit=6"))).toBe("limit");
  expect(refused(() => read(Array(101).fill("merchantId=m").join("&")))).toBe("merchantId");
  const merchants = () => readQuery(listMerchants.query, "/?status=active&status=active");
  expect(refused(merchants)).toBe("status");
});

// Guarantee: times are read to the microsecond in any zone, also where a plus sign was not encoded.
test("times keep every digit that is stored", () => {
  const micros = (time: string) => read(`startTs=${time}`).startTs;
  expect(micros("1970-01-01T00:00:01.000001Z")).toBe("1000001");
  expect(micros("2026-01-06T05:30:00.1234567%2B05:30")).toBe("1767657600123456");
  expect(micros("2026-01-06T05:30:00.1234567+05:30")).toBe("1767657600123456");
  expect(micros("2026-01-05T23:00:00-01:00")).toBe("1767657600000000");
});

const BAD = [
  "limit=0",
  "limit=201",
  "limit=1.5",
  "limit=",
  "status=pending",
  "sortBy=name",
  "sortDir=up",
  "startTs=2026-01-01",
  "startTs=2026-01-01T00:00:00",
  "startTs=2026-02-30T00:00:00Z",
  "startTs=2026-01-01T24:00:00Z",
  "endTs=1790000000",
  "network=base",
  "network=eip155:1,",
  "network=",
  "token_symbol=",
  "referenceId=",
  "referenceId=%00",
  "merchantId=",
  "cursor=",
];
// Guarantee: what a filter cannot mean is refused by its name.
test.for(BAD)("%s is refused", (query) => {
  expect(refused(() => read(query))).toBe(query.slice(0, query.indexOf("=")));
});

// Guarantee: a cursor holds for the list and order it was made in, and nothing else is one.
test("cursors are read back as they were written", () => {
  const position = { key: "1790000000123456", id: "pay_1" };
  const written = writeCursor("time.desc", position) ?? "";
  expect(readCursor("time.desc", written)).toEqual(position);
  expect(readCursor("time.desc", undefined)).toBeNull();
  expect(writeCursor("time.desc", null)).toBeNull();
  const forged = (text: string) => Buffer.from(text).toString("base64url");
  for (const cursor of [
    "zzz",
    `${written}=`,
    writeCursor("time.asc", position) ?? "",
    forged("time.desc 99999999999999999999 pay_1"),
    forged("time.desc -1 pay_1"),
    forged("time.desc 1' pay_1"),
    forged("time.desc 1 pay_\0"),
    forged("time.desc 1 pay_1 more"),
    forged("time.desc 1"),
  ])
    expect(refused(() => readCursor("time.desc", cursor))).toBe("cursor");
});
