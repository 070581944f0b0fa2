import { expect, test } from "vitest";
import { registrySchema } from "./registry.ts";
import { SHIPPED_REGISTRY } from "./registry-shipped.ts";

type Json = Record<string, unknown>;

/** The shipped registry as an operator's file would have it, with one place of it changed. */
function changed(path: (string | number)[], value: unknown): unknown {
  const registry = JSON.parse(JSON.stringify(SHIPPED_REGISTRY)) as Json;
  let at = registry;
  for (const step of path.slice(0, -1)) at = at[step] as Json;
  at[path.at(-1) ?? ""] = value;
  return registry;
}

const problemsOf = (registry: unknown): string[] => {
  const parsed = registrySchema.safeParse(registry);
  if (parsed.success) return [];
  return parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
};

// Guarantee: an amount of native coin is never a power of ten off: every EVM chain counts its coin in units of 10^-18.
test.for([8, 6, 0, 19, 36])("native coin with %s decimals is refused", (decimals) => {
  expect(problemsOf(changed(["chains", 1, "native", "decimals"], decimals))).toEqual([
    expect.stringMatching(/^chains\.1\.native\.decimals: must be 18/),
  ]);
});
