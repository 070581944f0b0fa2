import type { ServerResponse } from "node:http";

type Answers = Map<string, ServerResponse>;

/** One for the whole process: pages are bundled apart from the door, and modules of theirs are not the door's. */
const KEY = Symbol.for("florin.page-answers");
const shared = globalThis as { [KEY]?: Answers };
const answers = (): Answers => {
  shared[KEY] ??= new Map();
  return shared[KEY];
};

/** Lets the page that is drawn under this nonce say its status. */
export function expectPage(nonce: string, outgoing: ServerResponse): void {
  answers().set(nonce, outgoing);
  outgoing.once("close", () => answers().delete(nonce));
}

/**
 * Sets the status of the page that is being drawn, before its first byte. Next's own way draws its 404 page in the browser only, and
 * this one is to be read without scripts. Without a door in front, the status stays as it is.
 */
export function setPageStatus(nonce: string | undefined, status: number): void {
  const outgoing = nonce === undefined ? undefined : answers().get(nonce);
  if (outgoing !== undefined && !outgoing.headersSent) outgoing.statusCode = status;
}
