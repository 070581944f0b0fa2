import type { Authorization, SignedTerms } from "#server/domain/option/authorization.ts";

/** What is signed on EVM chains; throws for what another kind of chain takes. */
export function evmTerms(terms: SignedTerms): Authorization {
  if ("domain" in terms) return terms;
  throw new Error(`${terms.mechanism} is no mechanism of ${terms.chain}`);
}
