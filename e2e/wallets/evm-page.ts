/** What the page's half of an injected wallet is told; the keys stay in Node. */
export type InjectedInfo = { binding: string; uuid: string; name: string; rdns: string };

/** What the Node half answers; `events` happened before the answer. */
export type InjectedAnswer = {
  events: { name: string; data: unknown }[];
} & ({ result: unknown } | { error: { code: number; message: string } });

/** Runs inside every page before its own scripts: an EIP-1193 provider that asks Node, announced as EIP-6963 has it. */
export function announceInPage(info: InjectedInfo): void {
  type Listener = (data: unknown) => void;
  const listeners = new Map<string, Set<Listener>>();
  const emit = (name: string, data: unknown) => {
    for (const listener of [...(listeners.get(name) ?? [])]) listener(data);
  };
  const ask = (window as unknown as Record<string, (call: unknown) => Promise<InjectedAnswer>>)[
    info.binding
  ];
  if (ask === undefined) return;
  window.addEventListener(`wallet-event:${info.binding}`, (event) => {
    const { name, data } = (event as CustomEvent<{ name: string; data: unknown }>).detail;
    emit(name, data);
  });
  const provider = {
    on: (name: string, listener: Listener) => {
      listeners.set(name, (listeners.get(name) ?? new Set()).add(listener));
      return provider;
    },
    removeListener: (name: string, listener: Listener) => {
      listeners.get(name)?.delete(listener);
      return provider;
    },
    request: async ({ method, params }: { method: string; params?: unknown }) => {
      const answer = await ask({ method, params: params ?? [] });
      for (const { name, data } of answer.events) emit(name, data);
      if ("error" in answer)
        throw Object.assign(new Error(answer.error.message), { code: answer.error.code });
      return answer.result;
    },
  };
  const icon = `data:image/svg+xml,${encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" width="96" height="96"><circle cx="48" cy="48" r="48" fill="teal"/></svg>',
  )}`;
  const { uuid, name, rdns } = info;
  const detail = Object.freeze({ info: Object.freeze({ uuid, name, rdns, icon }), provider });
  const announce = () =>
    window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
  window.addEventListener("eip6963:requestProvider", announce);
  announce();
}
