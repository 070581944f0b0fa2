import type { MemberLine, TypePart } from "./members.ts";
import { Prose } from "./prose.tsx";

/** A type in words; named objects lead to their lists. */
export function Type({ parts }: { parts: TypePart[] }) {
  return (
    <span className="docs-type">
      {parts.map(({ text, schema }, index) =>
        schema === null ? (
          text
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a type never move
          <a key={index} href={`#object-${schema}`}>
            {text}
          </a>
        ),
      )}
    </span>
  );
}

/** Members with their types and meanings; `marks` says which side of required is worth a word. */
export function MembersList({
  title,
  members,
  marks,
}: {
  title?: string;
  members: MemberLine[];
  marks: "required" | "may be absent";
}) {
  if (members.length === 0) return null;
  return (
    <>
      {title === undefined ? null : <h4>{title}</h4>}
      <dl className="docs-members">
        {members.map(({ name, depth, type, required, description }) => (
          <div key={name} className={depth === 0 ? undefined : "docs-nested"}>
            <dt>
              <code>{name}</code> <Type parts={type} />
              {required === (marks === "required") ? <em className="docs-mark">{marks}</em> : null}
            </dt>
            <dd>
              <Prose text={description} />
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}
