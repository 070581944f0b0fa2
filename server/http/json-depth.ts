/** Deepest nesting of a body; nothing here needs half of it. */
export const MAX_DEPTH = 20;

/** Whether JSON text nests deeper than `max`; looks at the text alone, so that no depth can exhaust a stack. */
export function isDeeperThan(json: string, max: number): boolean {
  let depth = 0;
  let inText = false;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (inText) {
      if (code === 92) at += 1;
      else if (code === 34) inText = false;
    } else if (code === 34) inText = true;
    else if (code === 123 || code === 91) {
      depth += 1;
      if (depth > max) return true;
    } else if (code === 125 || code === 93) depth -= 1;
  }
  return false;
}
