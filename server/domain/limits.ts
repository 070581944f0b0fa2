/** So many calls in each window of `windowS` seconds; `sandboxCalls` where there is only test money. */
export type Limit = { windowS: number; calls: number; sandboxCalls: number };

/**
 * The published limits. Windows start together everywhere, at multiples of their length since 1970. Those of gateway
 * paths are short: a wallet waits two seconds at most, whatever it is told, and gives up after a few tries.
 */
export const LIMITS = {
  /** Merchant-side calls of one API key. */
  key: { windowS: 10, calls: 10_000, sandboxCalls: 300_000 },
  /** Gateway calls of one API key. */
  wallet: { windowS: 2, calls: 10_000, sandboxCalls: 60_000 },
  /** Gateway calls of one app and client id. */
  client: { windowS: 2, calls: 200, sandboxCalls: 20_000 },
  /** Gateway calls about one payment. */
  payment: { windowS: 2, calls: 100, sandboxCalls: 2_000 },
  /** Lists of options of one payment: each may ask a chain's node. */
  options: { windowS: 2, calls: 10, sandboxCalls: 300 },
  /** Calls from one address. */
  address: { windowS: 2, calls: 10_000, sandboxCalls: 60_000 },
  /** Credentials from one address that were refused. */
  failures: { windowS: 2, calls: 20, sandboxCalls: 500 },
} as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof LIMITS;

export const LIMIT_NAMES = Object.keys(LIMITS) as readonly LimitName[];

/** The longest a caller of the gateway is told to wait, in seconds. */
export const GATEWAY_RETRY_S = 2;
