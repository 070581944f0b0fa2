import type { Operation } from "#server/contract/operation.ts";
import { Method } from "./operation-section.tsx";
import { titleOf } from "./words.ts";

/** A heading of the page and where it is. */
export type Stop = { id: string; title: string };

/** Operations of one group. */
export type Group = { name: string; id: string; description: string; operations: Operation[] };

function Links({ stops, groups }: { stops: readonly Stop[]; groups: Group[] }) {
  return (
    <>
      <ul>
        {stops.map(({ id, title }) => (
          <li key={id}>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
      </ul>
      {groups.map(({ name, operations }) => (
        <div key={name}>
          <p>{name}</p>
          <ul>
            {operations.map(({ endpoint: { operation, method } }) => (
              <li key={operation}>
                <a href={`#${operation}`}>
                  {titleOf(operation)}
                  <Method name={method} />
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </>
  );
}

/** The contents: beside the text on a desk, folded above it on a phone. */
export function ReferenceNav(parts: { stops: readonly Stop[]; groups: Group[] }) {
  return (
    <>
      <nav className="docs-nav docs-wide" aria-label="Contents">
        <Links {...parts} />
      </nav>
      <details className="docs-nav docs-narrow">
        <summary>Contents</summary>
        <nav aria-label="Contents">
          <Links {...parts} />
        </nav>
      </details>
    </>
  );
}
