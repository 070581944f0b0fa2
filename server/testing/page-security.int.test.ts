import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { environment } from "#server/sandbox/migrate.ts";
import { ROOT } from "#server/sandbox/prepare.ts";
import { type Answer, call } from "./api.ts";
import { checkoutPages } from "./checkout-pages.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let server: TestServer;
const pages = () => checkoutPages(world, () => server.baseUrl);
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);

beforeAll(async () => {
  world = await createTestWorld();
  server = await world.startServer({ pages: true });
});
afterAll(() => world?.stop());

const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  call(server.baseUrl, "GET", path, { headers });

function brand(...words: string[]) {
  const node = join(ROOT, "node_modules", ".bin", "node");
  return spawnSync(node, [join(ROOT, "server/cli/merchant.ts"), "brand", ...words], {
    cwd: ROOT,
    encoding: "utf8",
    env: { ...environment(), DATABASE_URL: world.world.databaseUrl },
  });
}
const merchantId = (): string => world.demo.merchants[0]?.id ?? "";

/** The directives of a policy by name. */
function policyOf({ headers }: Answer): Record<string, string[]> {
  const policy = headers.get("content-security-policy") ?? "";
  expect(policy).not.toBe("");
  return Object.fromEntries(
    policy.split("; ").map((directive) => {
      const [name = "", ...values] = directive.split(" ");
      return [name, values];
    }),
  );
}

const nonceOf = (answer: Answer): string =>
  /'nonce-([^']+)'/.exec(answer.headers.get("content-security-policy") ?? "")?.[1] ?? "";

const PAGES = ["/", "/docs/api", "/readme", "/nothing", "/pay_unknown", "/collect?pid=x&t=y"];

// Guarantee: no page runs a script or a style that does not carry the nonce of its own answer, and no two answers share one.
test.for([...PAGES, "payment"])("nonces of %s", async (page) => {
  const path = page === "payment" ? `/${await pages().created()}` : page;
  const [one, two] = [await get(path), await get(path)];
  const nonce = nonceOf(one);
  expect(nonce.length).toBeGreaterThan(20);
  expect(nonceOf(two)).not.toBe(nonce);
  const { "script-src": scripts, ...policy } = policyOf(one);
  expect(scripts).toEqual(["'self'", `'nonce-${nonce}'`, "'strict-dynamic'"]);
  expect(policy).toMatchObject({
    "default-src": ["'none'"],
    "style-src": ["'self'", `'nonce-${nonce}'`],
    "img-src": ["'self'", "data:"],
    "connect-src": ["'self'"],
    "base-uri": ["'none'"],
    "form-action": ["'self'"],
    "object-src": ["'none'"],
  });
  const tags = one.text.match(/<(script|style)\b[^>]*>/g) ?? [];
  expect(tags.length).toBeGreaterThan(3);
  for (const tag of tags) expect(tag).toContain(`nonce="${nonce}"`);
  expect(one.text).not.toMatch(/<[a-z][^>]*\son[a-z]+="/);
  expect(one.text).not.toMatch(/<[a-z][^>]*\sstyle="/);
});

// Guarantee: nothing of an address leaves with a link or a picture, and what a page does not use it may not use.
test.for(PAGES)("headers of %s", async (path) => {
  const { headers } = await get(path);
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("permissions-policy")).toContain("camera=()");
  expect(headers.get("strict-transport-security")).toBeNull();
  expect(headers.get("x-powered-by")).toBeNull();
});

// Guarantee: a policy that a caller sends does not count.
test("a policy in the request", async () => {
  const headers = { "content-security-policy": "script-src 'nonce-mine'", "x-nonce": "mine" };
  const answer = await get("/docs/api", headers);
  expect(answer.text).not.toContain('mine"');
  expect(nonceOf(answer)).not.toBe("mine");
});

// Guarantee: nobody may frame a page but the form's any https page, and a checkout's the origins its merchant named.
test("frames", async () => {
  const id = await pages().created();
  for (const path of ["/", "/docs/api", `/${id}`, "/pay_unknown"]) {
    const answer = await get(path);
    expect(policyOf(answer)["frame-ancestors"], path).toEqual(["'none'"]);
    expect(answer.headers.get("x-frame-options"), path).toBe("DENY");
  }
  const form = await get("/collect?pid=x");
  expect(policyOf(form)["frame-ancestors"]?.[0]).toBe("https:");
  expect(form.headers.get("x-frame-options")).toBeNull();
  const origins = ["--frame-origin", "https://shop.example", "--frame-origin", "https://b.example"];
  const changed = brand("--merchant", merchantId(), ...origins);
  expect(changed.stderr).toBe("");
  for (const path of [`/${id}`, `/?pid=${id}`, `/buy?pid=${id}`]) {
    const answer = await get(path);
    expect(policyOf(answer)["frame-ancestors"], path).toEqual([
      "https://shop.example",
      "https://b.example",
    ]);
    expect(answer.headers.get("x-frame-options"), path).toBeNull();
  }
  expect(policyOf(await get("/"))["frame-ancestors"]).toEqual(["'none'"]);
  // The page shows one of them, and its merchant may be another one than the origins are of.
  for (const path of ["/", "/buy"]) {
    const answer = await get(`${path}?pid=${id}&pid=${await pages().created({ flow: "direct" })}`);
    expect(policyOf(answer)["frame-ancestors"], path).toEqual(["'none'"]);
    expect(answer.headers.get("x-frame-options"), path).toBe("DENY");
  }
});

// Guarantee: the older addresses of a checkout show the same page; an id that cannot be one is not found, and says so by its status.
test("addresses of a checkout", async () => {
  const id = await pages().created();
  for (const path of [`/${id}`, `/?pid=${id}`, `/buy?pid=${id}`]) {
    const { status, text } = await get(path);
    expect([path, status]).toEqual([path, 200]);
    expect(text, path).toContain("Demo Shop");
  }
  const unknown = ["/pay_00000000000000000000000000", "/?pid=nonsense", "/buy?pid=../v1", "/buy"];
  for (const path of unknown) expect([path, (await get(path)).status]).toEqual([path, 404]);
});

// Guarantee: an icon is stored and served by us, as a picture that nothing can run in, under a name that changes with it.
test("icons", async () => {
  const file = join(world.world.dir, "logo.png");
  writeFileSync(file, PNG);
  expect((await get(`/m/${merchantId()}/icon`)).status).toBe(404);
  const changed = brand("--merchant", merchantId(), "--icon", file, "--accent", "#FFCC00");
  expect(changed.stderr).toBe("");
  expect(changed.stdout).toContain("On light pages the colour is shown as #");
  const { merchant } = await pages().view(await pages().created());
  expect(merchant).toMatchObject({ accent: "#ffcc00", name: "Demo Shop" });
  const icon = await fetch(`${server.baseUrl}${merchant.iconUrl}`);
  expect(Buffer.from(await icon.arrayBuffer()).equals(PNG)).toBe(true);
  expect(Object.fromEntries(icon.headers)).toMatchObject({
    "content-type": "image/png",
    "cache-control": "public, max-age=31536000, immutable",
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
  });
  const again = await get(`/m/${merchantId()}/icon`, {
    "if-none-match": icon.headers.get("etag") ?? "",
  });
  expect(again.status).toBe(304);
  expect((await get("/m/mer_unknown/icon")).status).toBe(404);
});

// Guarantee: a change that is refused says why and changes nothing.
test("refused brands", async () => {
  const svg = join(world.world.dir, "logo.svg");
  writeFileSync(svg, "<svg xmlns='http://www.w3.org/2000/svg'/>");
  const { merchant: before } = await pages().view(await pages().created());
  const refused = brand("--merchant", merchantId(), "--accent", "#112233", "--icon", svg);
  expect([refused.status, refused.stderr]).toEqual([2, expect.stringMatching(/PNG, WebP or JPEG/)]);
  expect((await pages().view(await pages().created())).merchant).toEqual(before);
  const unknown = brand("--merchant", "mer_unknown", "--accent", "#112233");
  expect([unknown.status, unknown.stderr]).toEqual([2, expect.stringMatching(/no merchant mer_/)]);
});
