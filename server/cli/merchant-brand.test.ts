import { expect, test } from "vitest";
import { readChange } from "./merchant-brand.ts";

const PNG =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const read = (...words: string[]) => readChange(["--merchant", "mer_1", ...words]);

// Guarantee: what is not named stays, and `--no-…` takes away.
test("changes", () => {
  expect(read()).toEqual({ merchant: "mer_1", change: {} });
  expect(read("--accent", "#AABBCC", "--name", "My Shop").change).toEqual({
    accent: "#aabbcc",
    name: "My Shop",
  });
  expect(read("--no-accent", "--no-icon", "--no-frame-origins").change).toEqual({
    accent: null,
    icon: null,
    frameOrigins: [],
  });
  expect(read("--icon", PNG).change.icon?.type).toBe("image/png");
  const origins = ["--frame-origin", "https://A.example/", "--frame-origin", "https://b.example"];
  expect(read(...origins).change.frameOrigins).toEqual(["https://a.example", "https://b.example"]);
  expect(read("--frame-origin", "http://localhost:1", "--allow-loopback").change).toEqual({
    frameOrigins: ["http://localhost:1"],
  });
});

// Guarantee: what could run, would be loaded from elsewhere or cannot be read is refused with a reason.
test.for([
  [["--icon", "data:image/svg+xml;base64,PHN2Zy8+"], /PNG, WebP or JPEG/],
  [["--icon", "data:image/png,raw"], /must be base64/],
  [["--icon", "https://shop.example/logo.png"], /load nothing from other servers/],
  [["--icon", `data:image/png;base64,${"A".repeat(90_000)}`], /65536/],
  [["--icon", "/no/such/file"], /no such file/],
  [["--accent", "red"], /#1a5fd6/],
  [["--frame-origin", "http://shop.example"], /not one https host/],
  [["--frame-origin", "http://localhost:1"], /not one https host/],
  [["--frame-origin", "https://*.example"], /not one https host/],
  [["--name", ""], /at least 1/],
  [["--name", "a\u0000b"], /control/],
  [["--merchant", "../x"], /--merchant/],
  [["--nonsense"], /Unknown option/],
] as [string[], RegExp][])("%j", ([words, reason]) => {
  expect(() => read(...words)).toThrow(reason);
});
