import {
  LIMITS as LIMIT_BY_NAME,
  LIMIT_NAMES,
  type Limit,
  type LimitName,
} from "#server/domain/limits.ts";

/** What each limit counts. */
export const LIMIT_TEXTS: Record<LimitName, string> = {
  key: "Calls of a merchant's key",
  wallet: "Calls of a wallet's key",
  client: "Calls of one installation of an app",
  payment: "Gateway calls about one payment",
  options: "Lists of options of one payment",
  address: "Calls from one address",
  failures: "Refused credentials from one address",
};

/** Every limit with its name, in the order in which they are told. */
export const LIMITS: readonly (Limit & { name: LimitName })[] = LIMIT_NAMES.map((name) => ({
  name,
  ...LIMIT_BY_NAME[name],
}));
