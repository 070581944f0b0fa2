import { codeParts } from "./words.ts";

/** Text whose `parts between backquotes` are shown as code. */
export function Prose({ text }: { text: string }) {
  return codeParts(text).map((part, index) =>
    part.code ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never move
      <code key={index}>{part.text}</code>
    ) : (
      part.text
    ),
  );
}
