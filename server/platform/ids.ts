import { randomBytes } from "node:crypto";

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** 130 random bits as 26 characters of upper-case Crockford base32; nothing in it can be sorted by time. */
function randomBody(): string {
  let body = "";
  for (const byte of randomBytes(26)) body += CROCKFORD[byte & 31];
  return body;
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
} as const;

/** A new public id of a kind, such as `pay_…`; at least 128 random bits. */
export const newId = (kind: keyof typeof PREFIXES): string => `${PREFIXES[kind]}${randomBody()}`;
