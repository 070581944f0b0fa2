import { type Plant, rows } from "./plants.ts";

/** What a service may leave behind, and no invariant may call a violation. */
export const LEGAL_ROWS: Plant[] = [
  rows(
    "I21",
    "an intent that was given up before anything was signed",
    `select reserve_intent('planted', 'fill', null, null, chain, signer, '{"kind":"fill"}') from signer_nonce limit 1`,
    `update chain_intent set state = 'superseded' where id = 'planted'`,
  ),
  rows(
    "I35",
    "a transaction that became final a moment ago",
    `update chain_intent set state = 'mined' where kind = 'settlement' and state = 'final'`,
  ),
];
