import { CAPTURE_GAS, type ChainPort, FUNDED_FOR } from "#server/ports/chain.ts";
import type { Services } from "#server/ports/services.ts";
import { watchOutflows } from "./foreign-nonces.ts";

/** A key's money for network fees, in the smallest part of native coin. */
type Gas = { signer: string; balance: bigint; isShort: boolean };

/** Our keys on a chain, each once. */
export const signersOf = ({ facts }: ChainPort): string[] => {
  const { relayers, spender, intermediary } = facts;
  return [...new Set([...relayers, ...(spender === null ? [] : [spender]), intermediary])];
};

/** Which balances are too small to go on for a while: the measure by which options are offered. */
async function tooLittle(chain: ChainPort): Promise<(balance: bigint) => boolean> {
  if (chain.model === "lifetimes") {
    const funded = await chain.fundedSigners("spl_transfer");
    return () => funded.length === 0;
  }
  const { maxFee } = await chain.fees();
  return (balance) => balance < maxFee * CAPTURE_GAS * FUNDED_FOR;
}

/** What the keys that pay network fees have left. */
async function readGas(chain: ChainPort): Promise<Gas[]> {
  const payers = chain.model === "nonces" ? signersOf(chain) : chain.facts.relayers;
  const isShort = await tooLittle(chain);
  const balances = await Promise.all(payers.map((signer) => chain.nativeBalance(signer)));
  return payers.map((signer, place) => {
    const balance = balances[place] ?? 0n;
    return { signer, balance, isShort: isShort(balance) };
  });
}

async function watchGas(services: Services, chain: ChainPort): Promise<void> {
  const { chain: name } = chain.facts;
  for (const { signer, balance, isShort } of await readGas(chain)) {
    if (!(await services.store.markGas(name, signer, isShort))) continue;
    const facts = { signer, chain: name, balance: balance.toString() };
    if (isShort) services.log.error(facts, "a key has too little money for network fees");
    else services.log.info(facts, "a key has money for network fees again");
  }
}

/** Looks after the keys themselves, whether or not there is work for them: what they sent, and what they have left to pay fees. */
export async function watchSigners(services: Services, chain: ChainPort): Promise<void> {
  try {
    if (chain.model === "nonces") await watchOutflows(services, chain, signersOf(chain));
    await watchGas(services, chain);
  } catch (error) {
    services.log.warn({ chain: chain.facts.chain, err: error }, "our keys were not looked at");
  }
}
