import { expect, test } from "vitest";
import { frameOrigin } from "./frame-origin.ts";
import { checkIcon, dataUriBase64, MAX_ICON_BYTES } from "./icon.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);
const WEBP = Buffer.concat([
  Buffer.from("RIFF"),
  Buffer.from([1, 0, 0, 0]),
  Buffer.from("WEBPVP8 "),
]);

// Guarantee: an icon is what its bytes say, and nothing that a browser could run is one.
test("icons", () => {
  expect(checkIcon(PNG)).toEqual({ kind: "icon", type: "image/png" });
  expect(checkIcon(WEBP)).toEqual({ kind: "icon", type: "image/webp" });
  expect(checkIcon(Buffer.from([0xff, 0xd8, 0xff, 0xe0]))).toEqual({
    kind: "icon",
    type: "image/jpeg",
  });
  const bad = [
    "",
    "<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>",
    "GIF89a",
    "\x89PNG\r\n\x1a\n<script>",
    "<!doctype html>",
  ];
  for (const text of bad) expect(checkIcon(Buffer.from(text, "latin1")).kind, text).toBe("refused");
  const large = Buffer.concat([PNG, Buffer.alloc(MAX_ICON_BYTES)]);
  expect(checkIcon(large)).toMatchObject({ kind: "refused" });
  expect(dataUriBase64(`data:image/png;base64,${PNG.toString("base64")}`)).toBe(
    PNG.toString("base64"),
  );
  for (const text of ["data:image/png,AA", "https://shop.example/icon.png", "data:;base64,%%"])
    expect(dataUriBase64(text), text).toBeNull();
});

// Guarantee: what stands in a policy is exactly one https host, so that nothing can be written into a header.
test("origins that may frame", () => {
  expect(frameOrigin("https://Shop.Example", false)).toBe("https://shop.example");
  expect(frameOrigin("https://shop.example:8443/", false)).toBe("https://shop.example:8443");
  expect(frameOrigin("https://shop.example:443", false)).toBe("https://shop.example");
  expect(frameOrigin("http://localhost:8080", true)).toBe("http://localhost:8080");
  const bad = [
    "http://shop.example",
    "http://localhost:8080",
    "https://*.example",
    "https://*",
    "https:",
    "https://shop.example/path",
    "https://a@shop.example",
    "https://shop.example; script-src *",
    "https://shop.example\nX: y",
    "https://shop.example https://evil.example",
    "https://127.0.0.1",
    "'self'",
    "null",
    "",
  ];
  for (const value of bad) expect(frameOrigin(value, false), value).toBeNull();
});
