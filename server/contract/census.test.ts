import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ENDPOINTS } from "./index.ts";

/** Every exported handler of a route file, as `METHOD /path`. */
function served(): string[] {
  return readdirSync("app/v1", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith("route.ts"))
    .flatMap((file) => {
      const path = `/v1/${file.replace(/\/?route\.ts$/, "").replaceAll(/\[(\w+)\]/g, "{$1}")}`;
      const exported = readFileSync(`app/v1/${file}`, "utf8").matchAll(
        /^export const ([A-Z]+)\b/gm,
      );
      return [...exported].map(([, method]) => `${method} ${path}`);
    });
}

// Guarantee: a route without a contract, or a contract without a route, cannot be merged.
test("app/v1 serves exactly the endpoints the contract lists", () => {
  const calls = served().filter((call) => !call.startsWith("OPTIONS "));
  const promised = ENDPOINTS.map(({ method, path }) => `${method} ${path}`);
  expect(calls.toSorted()).toEqual(promised.toSorted());
});

// Guarantee: a browser may ask about exactly the paths it may call.
test("the paths open to browsers answer their preflight, and no other does", () => {
  const preflights = served().filter((call) => call.startsWith("OPTIONS "));
  const open = ENDPOINTS.filter(({ cors }) => cors).map(({ path }) => `OPTIONS ${path}`);
  expect(preflights.toSorted()).toEqual(open.toSorted());
  expect(open.every((call) => call.includes("/v1/gateway/"))).toBe(true);
});
