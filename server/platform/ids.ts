import { randomBytes } from "node:crypto";

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

const BODY_LENGTH = 26;
/** Random bytes are asked for in bulk: one call for each id costs more than the rest of a small request. */
const POOL_BYTES = BODY_LENGTH * 256;
let pool = Buffer.alloc(0);
let used = 0;

/** 130 random bits as 26 characters of upper-case Crockford base32; nothing in it can be sorted by time. */
function randomBody(): string {
  if (used === pool.length) {
    pool = randomBytes(POOL_BYTES);
    for (const [n, byte] of pool.entries()) pool[n] = CROCKFORD.charCodeAt(byte & 31);
    used = 0;
  }
  used += BODY_LENGTH;
  // One flat string: put together letter by letter it would take ten times the memory.
  return pool.toString("latin1", used - BODY_LENGTH, used);
}

const PREFIXES = {
  payment: "pay_",
  option: "opt_",
  merchant: "mer_",
  partner: "par_",
  key: "key_",
  app: "app_",
  attempt: "att_",
  settlement: "set_",
  destination: "dst_",
  exception: "exc_",
  event: "evt_",
  request: "req_",
  batch: "bat_",
  refund: "ref_",
  webhookEndpoint: "whe_",
  delivery: "dlv_",
} as const;

/** A new public id of a kind, such as `pay_…`; at least 128 random bits. */
export const newId = (kind: keyof typeof PREFIXES): string => `${PREFIXES[kind]}${randomBody()}`;
