/** Wallets that open a page in their own browser from a link, on phones. */
export const WALLET_BROWSERS = [
  {
    name: "MetaMask",
    href: (link: string) => `https://link.metamask.io/dapp/${link.replace(/^https?:\/\//, "")}`,
  },
  {
    name: "Trust Wallet",
    href: (link: string) =>
      `https://link.trustwallet.com/open_url?coin_id=60&url=${encodeURIComponent(link)}`,
  },
  {
    name: "Phantom",
    href: (link: string) =>
      `https://phantom.app/ul/browse/${encodeURIComponent(link)}?ref=${encodeURIComponent(originOf(link))}`,
  },
] as const;

const originOf = (link: string): string => new URL(link).origin;

/** `0x1234…cdef`: what a person compares; it is not broken at the end of a line. */
export const shortAddress = (address: string): string =>
  address.length <= 13 ? address : `${address.slice(0, 6)}\u2060…\u2060${address.slice(-4)}`;

/** The address in a CAIP-10 account. */
export const addressOf = (account: string): string => account.slice(account.lastIndexOf(":") + 1);
