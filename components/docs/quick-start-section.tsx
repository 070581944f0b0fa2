import { CodeBlock } from "./code-block.tsx";
import { Prose } from "./prose.tsx";
import { QUICK_START, type Sample } from "./quick-start.ts";

const PLACES: Record<Sample["kind"], string> = {
  shell: "Terminal",
  terminal: "A terminal of its own",
  program: "Program",
};

/** The way from nothing to a refunded payment, step by step. */
export function QuickStartSection() {
  return (
    <section id="quick-start" aria-labelledby="quick-start-title">
      <h2 id="quick-start-title">Quick start</h2>
      <p className="quiet">
        About five minutes, without an account. You need this program's folder, Node.js and curl.
      </p>
      <ol className="docs-steps">
        {QUICK_START.map(({ id, title, text, kind, code }) => (
          <li key={id}>
            <div>
              <h3>{title}</h3>
              <p>
                <Prose text={text} />
              </p>
            </div>
            <CodeBlock title={PLACES[kind]} code={code} />
          </li>
        ))}
      </ol>
    </section>
  );
}
