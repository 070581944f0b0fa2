import { headers } from "next/headers";

/** Written into the page: a file would be fetched by every page, since this one may stand in the place of any. */
const CSS =
  ":root{color-scheme:light dark;--ink:#1c2024;--quiet:#5b6470;--paper:#fbfaf7;--accent:#7a4b00}" +
  "@media (prefers-color-scheme:dark){:root{--ink:#ece8e1;--quiet:#a5a196;--paper:#171512;--accent:#f0b95b}}" +
  "body{margin:0;background:var(--paper);color:var(--ink);font:17px/1.6 system-ui,sans-serif}" +
  "main{max-width:44rem;margin:0 auto;padding:3rem 1.25rem}h1{margin:0;font-size:2.25rem;line-height:1.2}" +
  ".lead{color:var(--quiet)}a{color:var(--accent)}";

/** What a person sees at an address that leads nowhere. */
export default async function NotFound() {
  const nonce = (await headers()).get("x-nonce") ?? undefined;
  return (
    <html lang="en">
      <body>
        <style nonce={nonce}>{CSS}</style>
        <main>
          <h1>Nothing here</h1>
          <p className="lead">
            This address leads nowhere. Check the link, or ask who sent it for a new one.
          </p>
          <p>
            <a href="/">What this server is</a>
          </p>
        </main>
      </body>
    </html>
  );
}
