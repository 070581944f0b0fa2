import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const source = ["env", "load-settings"]
  .map((name) => readFileSync(`server/platform/${name}.ts`, "utf8"))
  .join("\n");
const example = readFileSync(".env.example", "utf8");

// Guarantee: an operator who copies .env.example sees every setting there is, and none that does nothing.
test(".env.example names exactly the settings the server reads", () => {
  const read = new Set([...source.matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm)].map(([, name]) => name));
  const perChain = new Set(
    [...source.matchAll(/`(FLORIN_[A-Z0-9_]+)_\$\{id\}/g)].map(([, name]) => name),
  );
  const named = [...example.matchAll(/^([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name);
  const plain = named.filter((name) => !/_\d+$/.test(name ?? ""));
  const chains = named
    .filter((name) => /_\d+$/.test(name ?? ""))
    .map((name) => name?.replace(/_\d+$/, ""));
  expect(new Set(plain)).toEqual(read);
  expect(new Set(chains)).toEqual(perChain);
});
