import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ENDPOINTS } from "./index.ts";

const rows = readFileSync("docs/endpoints.md", "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.split("|").map((cell) => cell.trim()));

// Guarantee: the list of endpoints is the contract's, and every test it names exists.
test("docs/endpoints.md", () => {
  const listed = rows.map(([, endpoint]) => endpoint?.replaceAll("`", ""));
  expect(listed.toSorted()).toEqual(
    ENDPOINTS.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
  for (const [, endpoint, proof = ""] of rows) {
    const files = [...proof.matchAll(/`(server\/\S+\.test\.ts)`/g)].map(([, file]) => file ?? "");
    expect(files, endpoint).not.toEqual([]);
    const texts = files.map((file) => readFileSync(file, "utf8")).join("\n");
    for (const [, title = ""] of proof.matchAll(/"([^"]+)"/g))
      expect(texts.includes(title), `${endpoint}: ${title}`).toBe(true);
  }
});
