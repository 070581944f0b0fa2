/** What the deployed wallet kit's client was configured with. */
export type FieldConfig = { appId: string; clientId: string; baseUrl: string };

type Action =
  | { type: "walletRpc"; data: { chain_id: string; method: string; params: unknown[] } }
  | { type: "build"; data: { data: string } };
export type FieldOption = {
  id: string;
  account: string;
  amount: { unit: string; value: string; display: { assetSymbol: string } };
  etaS: number;
  actions: Action[];
  collectData: { url: string; schema: object; fields: unknown[] } | null;
};
/** An action as the kit hands it to a wallet: `params` as JSON text. */
export type FieldAction = { chainId: string; method: string; params: string };
type Standing = {
  status: string;
  isFinal: boolean;
  pollInMs: number | null;
  info: { txId: string; optionAmount: unknown } | null;
};

const STATUSES = ["requires_action", "processing", "succeeded", "failed", "expired", "cancelled"];
const RETRIES = 5;
const FIRST_RETRY_MS = 50;
const PATIENCE_MS = 60_000;

function must(condition: unknown, what: string): asserts condition {
  if (!condition) throw new Error(`the field client cannot read this answer: ${what}`);
}

/** Demands what the deployed client's parser demands: unknown words and missing members are fatal to it. */
function readOption(option: FieldOption): FieldOption {
  must(typeof option.id === "string" && typeof option.account === "string", "option");
  must(Number.isInteger(option.etaS), "etaS");
  must(Array.isArray(option.actions), "actions");
  must(option.amount?.display?.assetSymbol, "display");
  for (const action of option.actions) {
    must(action.type === "walletRpc" || action.type === "build", "action type");
    if (action.type === "walletRpc")
      must(Array.isArray(action.data.params) && action.data.chain_id, "params");
    else must(typeof action.data.data === "string", "build data");
  }
  const collect = option.collectData;
  if (collect !== null && collect !== undefined)
    must(
      collect.url && typeof collect.schema === "object" && Array.isArray(collect.fields),
      "collectData",
    );
  return option;
}

function readStanding(answer: Standing): Standing {
  must(STATUSES.includes(answer.status), `status ${answer.status}`);
  must(typeof answer.isFinal === "boolean", "isFinal");
  must(answer.pollInMs === null || Number.isInteger(answer.pollInMs), "pollInMs");
  return answer;
}

/**
 * A client that calls the gateway as the deployed wallet kit does: the base URL glued on as it is, App-Id and no key,
 * a link on a foreign host taken whole for the id and encoded twice, options remembered, every confirm sent again byte
 * for byte, then status polls instead of confirms. `onRetry` sees each answer that was asked for again.
 */
export function fieldClient({ appId, clientId, baseUrl }: FieldConfig) {
  const known = new Map<string, FieldOption>();
  const headers = {
    accept: "application/json",
    "content-type": "application/json",
    "WCP-Version": "2026-02-19.preview",
    "api-version": "2026-02-19.preview",
    "Sdk-Name": "js-walletconnect-pay",
    "Sdk-Version": "1.1.0",
    "Sdk-Platform": "node",
    "App-Id": appId,
    "Client-Id": clientId,
  };

  const once = (method: string, path: string, body: string | undefined) =>
    fetch(`${baseUrl}${path}`, {
      method,
      headers,
      redirect: "error",
      signal: AbortSignal.timeout(PATIENCE_MS),
      ...(body === undefined ? {} : { body }),
    });

  async function call<T>(method: string, path: string, body?: object): Promise<T> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    for (let retry = 0; ; retry++) {
      const response = await once(method, path, text).catch(() => null);
      const again = response === null || response.status >= 500 || response.status === 429;
      if (!again && response !== null) {
        const answer = await response.json();
        if (response.status !== 200)
          throw new Error(`${response.status}: ${answer.code}: ${answer.message}`);
        return answer as T;
      }
      if (retry === RETRIES) throw new Error(`no answer: ${response?.status ?? "network"}`);
      const asked = Number(response?.headers.get("retry-after") ?? Number.NaN) * 1000;
      const waitMs = Number.isNaN(asked) ? FIRST_RETRY_MS * 2 ** retry : Math.min(asked, 2_000);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }

  /** A bare id as it is; a link on a host the kit does not know whole and percent-encoded. */
  const idOf = (link: string): string => (link.includes("/") ? encodeURIComponent(link) : link);
  const pathOf = (link: string, step: string) =>
    `/v1/gateway/payment/${encodeURIComponent(idOf(link))}/${step}`;

  const rpcActions = (actions: Action[]) => actions.filter(({ type }) => type === "walletRpc");
  const fetched = (link: string, optionId: string, data: string) =>
    call<{ actions: Action[] }>("POST", pathOf(link, "fetch"), { optionId, data });

  async function resolve(link: string, optionId: string, actions: Action[]): Promise<Action[]> {
    const all: Action[] = [];
    for (const action of actions)
      if (action.type === "walletRpc") all.push(action);
      else all.push(...rpcActions((await fetched(link, optionId, action.data.data)).actions));
    return all;
  }

  return {
    async options(link: string, accounts: string[]): Promise<FieldOption[]> {
      const answer = await call<{ options: FieldOption[] }>("POST", pathOf(link, "options"), {
        accounts,
      });
      const options = answer.options.map(readOption);
      for (const option of options) known.set(option.id, option);
      return options;
    },
    /** The actions a wallet must execute; `forget` takes an option the client has not seen, as after a restart. */
    async requiredActions(link: string, optionId: string, forget = false): Promise<FieldAction[]> {
      const cached = forget ? [] : (known.get(optionId)?.actions ?? []);
      const start = cached.length > 0 ? cached : (await fetched(link, optionId, "")).actions;
      const actions = await resolve(link, optionId, start);
      return actions.flatMap((action) =>
        action.type === "walletRpc"
          ? [
              {
                chainId: action.data.chain_id,
                method: action.data.method,
                params: JSON.stringify(action.data.params),
              },
            ]
          : [],
      );
    },
    /** Confirms `repeats` times with the same bytes, then polls the status until it is final. */
    async confirm(
      link: string,
      optionId: string,
      outputs: string[],
      repeats = 3,
    ): Promise<Standing> {
      const results = outputs.map((data) => ({ type: "walletRpc", data: [data] }));
      let standing: Standing | undefined;
      for (let n = 0; n < repeats; n++)
        standing = readStanding(await call("POST", pathOf(link, "confirm"), { optionId, results }));
      must(standing, "confirm");
      const end = Date.now() + PATIENCE_MS;
      while (!standing.isFinal) {
        if (Date.now() > end) throw new Error(`not final in time: ${standing.status}`);
        await new Promise((resolve) => setTimeout(resolve, standing?.pollInMs ?? 1_000));
        standing = readStanding(await call("GET", pathOf(link, "status")));
      }
      return standing;
    },
  };
}
