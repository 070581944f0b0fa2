import { container } from "#server/container.ts";
import { API_VERSIONS } from "#server/contract/version.ts";

/** What the front page says of the running service. */
export type About = {
  mode: string;
  baseUrl: string;
  apiVersions: readonly string[];
  chains: { id: string; name: string; tokens: string[] }[];
};

/** Reads it off the process's own parts. */
export function about(): About {
  const { env, services } = container();
  return {
    mode: env.FLORIN_MODE,
    baseUrl: env.baseUrl,
    apiVersions: API_VERSIONS,
    chains: [...services.chains.values()].map(({ facts }) => ({
      id: facts.chain,
      name: facts.name,
      tokens: facts.tokens.map(({ symbol }) => symbol),
    })),
  };
}
