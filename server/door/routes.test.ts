import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ENDPOINTS } from "#server/contract/index.ts";
import { ROUTES } from "./routes.ts";

const APP = "app/v1";

/** URL paths of the route files, with what each file exports. */
const FILES = readdirSync(APP, { recursive: true, encoding: "utf8" })
  .filter((name) => /(^|\/)route\.tsx?$/.test(name))
  .map((name) => {
    const path = `/v1/${name.replace(/\/?route\.tsx?$/, "")}`.replace(/\[(\w+)\]/g, "{$1}");
    return { name: join(APP, name), path };
  });

// Guarantee: what Next would serve under /v1 and what the front door serves are the same files under the same paths.
test("the route table is the file tree", () => {
  expect(FILES.map(({ path }) => path).toSorted()).toEqual(Object.keys(ROUTES).toSorted());
});

// Guarantee: each route file answers exactly the contract's methods of its path, and preflights where browsers may call.
test.for(FILES)("$name", async ({ name, path }) => {
  const exported: Record<string, unknown> = {
    ...(await import(/* @vite-ignore */ `../../${name}`)),
  };
  const ofPath = ENDPOINTS.filter((endpoint) => endpoint.path === path);
  const cors = ofPath.some((endpoint) => endpoint.cors);
  const methods = [...ofPath.map(({ method }) => method), ...(cors ? ["OPTIONS"] : [])];
  expect(Object.keys(exported).toSorted()).toEqual(methods.toSorted());
  expect({ ...ROUTES[path] }).toEqual(exported);
});
