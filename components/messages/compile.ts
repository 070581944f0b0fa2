import compile from "icu-minify/compile";

/** Messages as they are written: names of groups and keys, with ICU text at the leaves. */
export type Messages = { readonly [key: string]: string | Messages };
type CompiledText = ReturnType<typeof compile>;
/** The same tree, made ready on the server so that no parser is sent to the browser. */
export type Compiled = { [key: string]: CompiledText | Compiled };

const done = new WeakMap<Messages, Compiled>();

/** Parses every text once per process; throws on a text that is not valid ICU. */
export function compileMessages(messages: Messages): Compiled {
  const known = done.get(messages);
  if (known !== undefined) return known;
  const compiled: Compiled = {};
  // The clone has plain objects where plurals have none that can be handed to the browser.
  for (const [key, value] of Object.entries(messages))
    compiled[key] =
      typeof value === "string" ? structuredClone(compile(value)) : compileMessages(value);
  done.set(messages, compiled);
  return compiled;
}
