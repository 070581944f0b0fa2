const QUOTE = 34;
const COLON = 58;
const BACKSLASH = 92;

/** The place of the quote that ends the text which begins at `start`. */
function endOfText(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json.charCodeAt(at) !== QUOTE)
    at += json.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

/** The first place from `start` on that is no white space of JSON. */
function afterBlanks(json: string, start: number): number {
  let at = start;
  while (" \t\r\n".includes(json.charAt(at)) && at < json.length) at += 1;
  return at;
}

/** Whether an object of this valid JSON names a member twice, in whatever spelling: readers differ in which of the two counts. */
export function repeatsMember(json: string): boolean {
  const open: Set<string>[] = [];
  for (let at = 0; at < json.length; at++) {
    const sign = json[at];
    if (sign === "{") open.push(new Set());
    else if (sign === "}") open.pop();
    else if (sign === '"') {
      const end = endOfText(json, at);
      if (json.charCodeAt(afterBlanks(json, end + 1)) === COLON) {
        const written = json.slice(at, end + 1);
        const name: string = written.includes("\\") ? JSON.parse(written) : written.slice(1, -1);
        const names = open.at(-1);
        if (names?.has(name)) return true;
        names?.add(name);
      }
      at = end;
    }
  }
  return false;
}
