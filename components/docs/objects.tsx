import type { JsonSchema } from "#server/contract/json-schema.ts";
import { membersOf, typeOf } from "./members.ts";
import { MembersList, Type } from "./members-list.tsx";
import { Prose } from "./prose.tsx";

/** The objects that many calls share; where their names in other lists lead to. */
export function Objects({ components }: { components: Readonly<Record<string, JsonSchema>> }) {
  return (
    <section id="objects" aria-labelledby="objects-title">
      <h2 id="objects-title">Objects</h2>
      {Object.entries(components).map(([name, schema]) => (
        <section key={name} id={`object-${name}`} className="docs-object">
          <h3>{name}</h3>
          <p>
            <Prose text={schema.description ?? ""} />
          </p>
          {schema.properties === undefined ? (
            <p>
              <Type parts={typeOf(schema)} />
            </p>
          ) : (
            <MembersList members={membersOf(schema)} marks="may be absent" />
          )}
        </section>
      ))}
    </section>
  );
}
