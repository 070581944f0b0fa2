/** A titled piece of code or data. */
export function CodeBlock({ title, code }: { title: string; code: string }) {
  return (
    <figure className="docs-code">
      <figcaption>{title}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled, also by keyboard */}
      <pre tabIndex={0}>{code}</pre>
    </figure>
  );
}
