/** A titled piece of code or data. */
export function CodeBlock({ title, code }: { title: string; code: string }) {
  return (
    <figure className="docs-code">
      <figcaption>{title}</figcaption>
      <pre>{code}</pre>
    </figure>
  );
}
