/** One request to a receiver. */
export type WebhookRequest = {
  url: string;
  headers: Record<string, string>;
  body: string;
};

/** What came back. Parts are null when nothing came; `error` says in words why there was no complete answer. */
export type WebhookAnswer = {
  status: number | null;
  headers: Record<string, string> | null;
  /** The first part of the body, as text PostgreSQL can store. */
  body: string | null;
  error: string | null;
  durationMs: number;
};

/** Sends to receivers anywhere, and to nothing that is not the public's; never throws. */
export type WebhookSender = {
  send(request: WebhookRequest, signal: AbortSignal): Promise<WebhookAnswer>;
};
