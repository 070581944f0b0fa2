import { expect, test } from "vitest";
import { createTripCounter } from "./counting-proxy.ts";

const message = (type: string, body: string): Buffer => {
  const size = Buffer.alloc(4);
  size.writeInt32BE(4 + body.length);
  return Buffer.concat([Buffer.from(type), size, Buffer.from(body)]);
};

// Guarantee: a simple query and a prepared statement are one round trip each, however the bytes are cut.
test("queries and syncs are counted", () => {
  const bytes = Buffer.concat([
    message("", "\0\x03\0\0user\0florin\0\0"),
    message("p", "QSQS"),
    message("Q", "begin\0"),
    message("P", "Q\0S\0"),
    message("B", ""),
    message("D", "P"),
    message("E", "SSSS"),
    message("S", ""),
    message("X", ""),
  ]);
  for (const step of [1, 3, 7, bytes.length]) {
    let trips = 0;
    const look = createTripCounter(() => trips++);
    for (let at = 0; at < bytes.length; at += step) look(bytes.subarray(at, at + step));
    expect(trips).toBe(2);
  }
});
