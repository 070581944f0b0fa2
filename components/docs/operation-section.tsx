import type { JsonSchema } from "#server/contract/json-schema.ts";
import type { Operation, Parameter } from "#server/contract/operation.ts";
import { CodeBlock } from "./code-block.tsx";
import { curlOf } from "./curl.ts";
import { OperationErrors } from "./errors.tsx";
import { describe, type MemberLine, membersOf, typeOf } from "./members.ts";
import { MembersList } from "./members-list.tsx";
import { titleOf } from "./words.ts";

const CALLERS: Record<Operation["endpoint"]["auth"], string> = {
  merchant: "Api-Key and Merchant-Id",
  partner: "Api-Key",
  gateway: "Api-Key, or App-Id with Client-Id",
};

/** The HTTP method as a badge. */
export const Method = ({ name }: { name: string }) => (
  <span className={`docs-method docs-${name.toLowerCase()}`}>{name}</span>
);

const lineOf = ({ name, schema, required, description }: Parameter): MemberLine => ({
  name,
  depth: 0,
  type: typeOf(schema),
  required,
  description: describe({ ...schema, description }),
});

const parametersIn = (operation: Operation, place: Parameter["in"]): MemberLine[] =>
  operation.parameters.filter((parameter) => parameter.in === place).map(lineOf);

function Shapes({ operation }: { operation: Operation }) {
  const { body, response } = operation;
  return (
    <>
      <MembersList title="Path" members={parametersIn(operation, "path")} marks="may be absent" />
      <MembersList title="Query" members={parametersIn(operation, "query")} marks="required" />
      <MembersList title="Body" members={membersOf(body ?? {})} marks="required" />
      <MembersList title="Answer" members={membersOf(response)} marks="may be absent" />
    </>
  );
}

/** Everything about one endpoint: what it takes, answers and refuses, with an example beside it. */
export function OperationSection({
  operation,
  baseUrl,
  components,
}: {
  operation: Operation;
  baseUrl: string;
  components: Readonly<Record<string, JsonSchema>>;
}) {
  const { endpoint, example, response } = operation;
  const named = response.$ref?.slice(response.$ref.lastIndexOf("/") + 1);
  const whole = named === undefined ? response : (components[named] ?? {});
  return (
    <section
      className="docs-operation"
      id={endpoint.operation}
      aria-labelledby={`${endpoint.operation}-title`}
    >
      <div className="docs-text">
        <h3 id={`${endpoint.operation}-title`}>
          <a className="docs-anchor" href={`#${endpoint.operation}`}>
            {titleOf(endpoint.operation)}
          </a>
        </h3>
        <p className="docs-call">
          <Method name={endpoint.method} /> <code>{endpoint.path}</code>
        </p>
        <p>{endpoint.summary}</p>
        <p className="quiet">
          Needs {CALLERS[endpoint.auth]}.{endpoint.idempotent ? " Takes an Idempotency-Key." : ""}
          {endpoint.cors ? " Browsers of any origin may call it." : ""}
        </p>
        <Shapes operation={{ ...operation, response: whole }} />
        <OperationErrors operation={operation} />
      </div>
      <div className="docs-examples">
        <CodeBlock title="Call" code={curlOf(baseUrl, operation)} />
        {example === null ? null : (
          <CodeBlock
            title={`Answer ${endpoint.status}`}
            code={JSON.stringify(example.response, null, 2)}
          />
        )}
      </div>
    </section>
  );
}
