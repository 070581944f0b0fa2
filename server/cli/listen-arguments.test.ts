import { expect, test } from "vitest";
import { readListenArguments } from "./listen-arguments.ts";

// Guarantee: events of the sandbox go to programs of this machine and nowhere else.
test.for(["http://localhost:4000/hook", "http://127.0.0.1:4000", "https://[::1]/hook"])(
  "%s",
  (url) => {
    expect(readListenArguments([url])).toMatchObject({ kind: "arguments", arguments: { url } });
  },
);
test.for([
  "http://10.1.2.3/hook",
  "http://shop.example",
  "http://127.0.0.1.shop.example",
  "ftp://a",
])("refused: %s", (url) => {
  expect(readListenArguments([url]).kind).toBe("wrong");
});
