import type { JsonSchema } from "#server/contract/json-schema.ts";
import { membersOf, typeOf } from "./members.ts";
import { MembersList } from "./members-list.tsx";

/** The objects that many calls share; where their names in other lists lead to. */
export function Objects({ components }: { components: Readonly<Record<string, JsonSchema>> }) {
  return (
    <section id="objects" aria-labelledby="objects-title">
      <h2 id="objects-title">Objects</h2>
      {Object.entries(components).map(([name, schema]) => (
        <section key={name} id={`object-${name}`} className="docs-object">
          <h3>{name}</h3>
          {schema.properties === undefined ? (
            <p>
              {typeOf(schema).map(({ text, schema: target }) =>
                target === null ? (
                  <span key={text}>{text}</span>
                ) : (
                  <a key={text} href={`#object-${target}`}>
                    {text}
                  </a>
                ),
              )}
            </p>
          ) : (
            <MembersList title="Members" members={membersOf(schema)} marks="may be absent" />
          )}
        </section>
      ))}
    </section>
  );
}
