import type { ChainPort } from "#server/ports/chain.ts";
import type { Services } from "#server/ports/services.ts";

/** Every account of a chain in which money for us or for a merchant may arrive now. */
export async function watchedAccounts(services: Services, chain: ChainPort): Promise<string[]> {
  const recipients = new Set(await services.store.watchedRecipients(chain.facts.chain));
  recipients.add(chain.facts.intermediary);
  return [...recipients];
}
