import { expect, test } from "vitest";
import { isDeeperThan } from "./json-depth.ts";

// Guarantee: nesting is refused before anything that could recurse sees it, and text that looks like nesting is none.
test.for([
  ['{"a":[1,{"b":2}]}', 3, false],
  ['{"a":[1,{"b":2}]}', 2, true],
  ['["[[[[[["]', 1, false],
  ['["\\"[[[["]', 1, false],
  ['["\\\\",[1]]', 1, true],
  ["[".repeat(10_000), 20, true],
  ['{"a":'.repeat(10_000), 20, true],
  [`[${"[],".repeat(10_000)}1]`, 2, false],
  ["]]]]", 1, false],
] as const)("%s", ([json, max, deeper]) => {
  expect(isDeeperThan(json, max)).toBe(deeper);
});
