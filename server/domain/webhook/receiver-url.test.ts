import { expect, test } from "vitest";
import { receiverProblem } from "./receiver-url.ts";

// Guarantee: with real money events leave over HTTPS only, to a name on the public internet, on the usual ports.
test.for([
  ["http://shop.example/hook", "must start with https://"],
  ["ftp://shop.example/hook", "must start with https://"],
  ["javascript:alert(1)", "must start with https://"],
  ["shop.example/hook", "must be a URL"],
  [" https://shop.example/hook", "must be a URL"],
  ["https://user@shop.example/", "must not carry a user name or password"],
  ["https://user:secret@shop.example/", "must not carry a user name or password"],
  ["https://shop.example/#part", "must not have a fragment"],
  ["https://shop.example:22/", "must use port 443 or 8443"],
  ["https://shop.example:5432/", "must use port 443 or 8443"],
  ["https://127.0.0.1/", "must name a host, not an IP address"],
  ["https://2130706433/", "must name a host, not an IP address"],
  ["https://0x7f000001/", "must name a host, not an IP address"],
  ["https://0177.0.0.1/", "must name a host, not an IP address"],
  ["https://127.1/", "must name a host, not an IP address"],
  ["https://0.0.0.0/", "must name a host, not an IP address"],
  ["https://[::1]/", "must name a host, not an IP address"],
  ["https://[::ffff:127.0.0.1]/", "must name a host, not an IP address"],
  ["https://169.254.169.254/latest/meta-data", "must name a host, not an IP address"],
  ["https://localhost/", "must name a public host"],
  ["https://localhost./", "must name a public host"],
  ["https://metadata.google.internal/", "must name a public host"],
  ["https://printer.local/", "must name a public host"],
  ["https://database/", "must name a public host"],
] as const)("%s is refused", ([url, problem]) => {
  expect(receiverProblem(url, "public")).toBe(problem);
});

// Guarantee: an ordinary receiver is taken, and the local world takes programs on the developer's machine too.
test("what is taken", () => {
  for (const url of ["https://shop.example/hook?a=1", "https://hooks.shop.example:8443/"])
    expect(receiverProblem(url, "public")).toBeNull();
  for (const url of [
    "http://localhost:4000/hook",
    "http://127.0.0.1:4000/",
    "https://shop.example/",
  ])
    expect(receiverProblem(url, "open")).toBeNull();
  expect(receiverProblem("http://me:secret@localhost:4000/", "open")).not.toBeNull();
  expect(receiverProblem("file:///etc/passwd", "open")).not.toBeNull();
});
