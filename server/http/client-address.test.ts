import { expect, test } from "vitest";
import { clientAddress } from "./client-address.ts";

// Guarantee: without trusted proxies a caller cannot choose what it is counted under; with them only what they wrote counts.
test.for([
  ["10.0.0.1", null, 0, "10.0.0.1"],
  ["10.0.0.1", "1.1.1.1", 0, "10.0.0.1"],
  ["10.0.0.1", "1.1.1.1", 1, "1.1.1.1"],
  ["10.0.0.1", "6.6.6.6, 1.1.1.1", 1, "1.1.1.1"],
  ["10.0.0.1", "6.6.6.6,1.1.1.1, 10.0.0.9", 2, "1.1.1.1"],
  ["10.0.0.1", "1.1.1.1", 2, "10.0.0.1"],
  ["10.0.0.1", null, 1, "10.0.0.1"],
  ["10.0.0.1", "", 1, "10.0.0.1"],
  ["10.0.0.1", "unknown", 1, "10.0.0.1"],
  ["10.0.0.1", "1.1.1.1:4711", 1, "1.1.1.1"],
  ["10.0.0.1", "[2001:db8:1:2:3::1]:80", 1, "2001:db8:1:2::/64"],
  [undefined, null, 0, null],
  ["::ffff:10.0.0.1", null, 0, "10.0.0.1"],
  ["2001:db8::1", null, 0, "2001:db8:0:0::/64"],
  ["2001:DB8:0:0:ffff::1", null, 0, "2001:db8:0:0::/64"],
  ["2001:0db8:0000:0001::", null, 0, "2001:db8:0:1::/64"],
  ["::1", null, 0, "0:0:0:0::/64"],
  ["fe80::1%eth0", null, 0, "fe80:0:0:0::/64"],
  ["1:2:3:4:5:6:1.2.3.4", null, 0, "1:2:3:4::/64"],
  ["1::1.2.3.4", null, 0, "1:0:0:0::/64"],
  ["1:2:3:4:5:6:7::", null, 0, "1:2:3:4::/64"],
] as const)("%s, %s, %d proxies: %s", ([socket, forwarded, trusted, expected]) => {
  expect(clientAddress(socket, forwarded, trusted)).toBe(expected);
});
