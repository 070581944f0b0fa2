/** The part of all places that the bodies of one address may take. */
const SHARE = 4;

/** Bodies on their way, as many as `most` together and a quarter of them from one address. */
export type Bodies = {
  /** Takes a place; false: there is none. */
  begin(address: string): boolean;
  end(address: string): void;
};

/** Counts bodies that are on their way apart from the work: whoever is slow to send takes nobody's place but those of others who are. */
export function createBodies(most: number): Bodies {
  const ofOne = Math.ceil(most / SHARE);
  const byAddress = new Map<string, number>();
  let all = 0;
  return {
    begin(address) {
      const count = byAddress.get(address) ?? 0;
      if (all >= most || count >= ofOne) return false;
      all += 1;
      byAddress.set(address, count + 1);
      return true;
    },
    end(address) {
      const left = (byAddress.get(address) ?? 0) - 1;
      all -= 1;
      if (left > 0) byAddress.set(address, left);
      else byAddress.delete(address);
    },
  };
}
