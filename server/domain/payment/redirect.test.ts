import { expect, test } from "vitest";
import { redirectUrl } from "./redirect.ts";

const SHOP = "https://shop.example";

// Guarantee: every https address a merchant may have leads back to it, whatever characters its shop puts there.
test.for([
  [`${SHOP}/return?email=a@b.com`, `${SHOP}/return?email=a@b.com`],
  [`${SHOP}/@anna/ok`, `${SHOP}/@anna/ok`],
  [`${SHOP}/o'neil`, `${SHOP}/o'neil`],
  [`${SHOP}/ok?t={ID}#a|b`, `${SHOP}/ok?t={ID}#a|b`],
  [`${SHOP}/ü?q="<é>"`, `${SHOP}/%C3%BC?q=%22%3C%C3%A9%3E%22`],
  ["HTTPS://Shop.Example:443/OK", `${SHOP}/OK`],
  ["https://bücher.example/ok", "https://xn--bcher-kva.example/ok"],
  ["https://shop.example:8443", "https://shop.example:8443/"],
])("%s", ([written, kept]) => {
  expect(redirectUrl(written, false)).toBe(kept);
});

// Guarantee: nobody is sent to what is no https address, or to one that two readers read differently.
test.for([
  undefined,
  7,
  "",
  "/return",
  "javascript:alert(1)",
  "data:text/html,x",
  "http://shop.example/",
  "http://localhost/",
  "https://",
  "https:shop.example",
  "https:///shop.example",
  "https:\\\\shop.example",
  "https://shop.example\\@evil.example",
  "https://user@shop.example/",
  "https://user:word@shop.example/",
  "https://:word@shop.example/",
  " https://shop.example/",
  "https://shop.example/a b",
  "https://shop.example/a\tb",
  "https://shop.example/a\nb",
  "https://shop.example/\u0000",
  "https://shop.example/\u2028",
  "https://shop.example/\ud83d",
  "https://shop<.example/",
  `${SHOP}/${"a".repeat(2_048)}`,
  `${SHOP}/${"ü".repeat(1_000)}`,
])("%j is none", (written) => {
  expect(redirectUrl(written, false)).toBeNull();
});

// Guarantee: a shop on the developer's own machine works in the sandbox, and nothing else without TLS.
test.for([
  ["http://localhost:3000/thanks?to=a@b", "http://localhost:3000/thanks?to=a@b"],
  ["http://127.0.0.1/", "http://127.0.0.1/"],
  ["http://[::1]:8080/ok", "http://[::1]:8080/ok"],
  ["http://shop.example/", null],
  ["http://localhost.evil.example/", null],
  ["http://user@localhost/", null],
  ["ftp://localhost/", null],
] as const)("%s in the sandbox", ([written, kept]) => {
  expect(redirectUrl(written, true)).toBe(kept);
});
