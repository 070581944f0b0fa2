import type { Link } from "./submit.ts";

/** What the page's address says. */
export type Search = Readonly<Record<string, string | string[] | undefined>>;

export type Theme = "light" | "dark";

/** The first of a parameter; wallets append theirs, so what we wrote stands first. */
const first = (search: Search, name: string): string | undefined => [search[name]].flat()[0];

/** Some wallets append with `?` to an address that has one: what follows it in the last parameter is more parameters. */
function repaired(search: Search): Search {
  const [token = "", ...appended] = (first(search, "t") ?? "").split("?");
  if (appended.length === 0) return search;
  const more = Object.fromEntries(new URLSearchParams(appended.join("&")));
  return { ...more, ...search, t: token };
}

/** Reads the address: the link, and what the wallet added to it. `theme` null: as the device has it. */
export function readAddress(search: Search): {
  link: Link;
  prefill: string | undefined;
  theme: Theme | null;
} {
  const read = repaired(search);
  const theme = first(read, "theme");
  return {
    link: {
      pid: first(read, "pid") ?? "",
      accounts: (first(read, "accounts") ?? "").split(",").filter((one) => one !== ""),
      t: first(read, "t") ?? "",
    },
    prefill: first(read, "prefill"),
    theme: theme === "light" || theme === "dark" ? theme : null,
  };
}
