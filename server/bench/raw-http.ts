/** One answer of a keep-alive connection. */
export type RawAnswer = { status: number; body: string };

const HEAD_END = "\r\n\r\n";

/**
 * Splits the bytes of one connection into answers; answers must announce their length, as both sides of every comparison do.
 * A full HTTP client costs more than the requests that are measured, and it would run on the same cores.
 */
export function createAnswerReader(heard: (answer: RawAnswer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const end = rest.indexOf(HEAD_END);
      if (end === -1) return;
      const head = rest.toString("latin1", 0, end);
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
      if (length === undefined) throw new Error(`an answer without a length: ${head}`);
      const from = end + HEAD_END.length;
      const to = from + Number(length);
      if (rest.length < to) return;
      const answer = { status: Number(head.slice(9, 12)), body: rest.toString("utf8", from, to) };
      rest = rest.subarray(to);
      heard(answer);
    }
  };
}

/** A request as text with `{name}` places: request number n takes the n-th of the name's values, in turn; `{n}` is the number itself. */
export type RequestTemplate = { text: string; values: Record<string, readonly string[]> };

/** A request in full; places in `path`, `headers` and `body` stay. A value in the body must have its place's length in every request. */
export function requestText(
  method: string,
  path: string,
  headers: Record<string, string>,
  body = "",
  bodyLength = Buffer.byteLength(body),
): string {
  const lines = Object.entries({
    Host: "127.0.0.1",
    ...headers,
    ...(body === "" ? {} : { "Content-Type": "application/json", "Content-Length": bodyLength }),
  }).map(([name, value]) => `${name}: ${value}`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}${HEAD_END}${body}`;
}

/** Fills a template's places. */
export function createRequestWriter({ text, values }: RequestTemplate): (n: number) => string {
  // Odd parts are names: `split` with a group keeps what it matched.
  const parts = text.split(/\{(\w+)\}/);
  const pieces = parts.map((part, index): ((n: number) => string) => {
    if (index % 2 === 0) return () => part;
    if (part === "n") return String;
    const list = values[part] ?? [];
    if (list.length === 0) throw new Error(`no value for {${part}}`);
    return (n) => list[n % list.length] ?? "";
  });
  return (n) => {
    let request = "";
    for (const piece of pieces) request += piece(n);
    return request;
  };
}
