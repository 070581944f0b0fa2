import { ERROR_TEXTS, meaningOf } from "#server/contract/error-texts.ts";
import type { Operation } from "#server/contract/operation.ts";
import { ERROR_CODES, type ErrorCode } from "#server/domain/error-code.ts";
import { Prose } from "./prose.tsx";

const CodeLink = ({ code }: { code: ErrorCode }) => (
  <a href={`#error-${code}`}>
    <code>{code}</code>
  </a>
);

/** The refusals of one operation: its own ones with their meanings, those of every call by name. */
export function OperationErrors({ operation }: { operation: Operation }) {
  const own = (code: ErrorCode) => operation.endpoint.errors.includes(code);
  const rows = operation.errors.flatMap(({ status, codes }) =>
    codes.filter(own).map((code) => ({ status, code })),
  );
  const common = operation.errors
    .map(({ status, codes }) => ({ status, codes: codes.filter((code) => !own(code)) }))
    .filter(({ codes }) => codes.length > 0);
  return (
    <>
      <h4>Errors</h4>
      <table className="docs-errors">
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Code</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ status, code }) => (
            <tr key={`${status} ${code}`}>
              <td>{status}</td>
              <td>
                <CodeLink code={code} />
                <span className="docs-meaning">
                  <Prose text={meaningOf(code, status)} />
                </span>
              </td>
            </tr>
          ))}
          {common.map(({ status, codes }) => (
            <tr key={status}>
              <td>{status}</td>
              <td>
                {codes.map((code) => (
                  <span key={code} className="docs-common">
                    <CodeLink code={code} />
                  </span>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** Every code with its meaning and statuses; where the codes of the operations lead to. */
export function AllErrors({ operations }: { operations: Operation[] }) {
  const statuses = (wanted: ErrorCode) => [
    ...new Set(
      operations
        .flatMap(({ errors }) => errors)
        .filter(({ codes }) => codes.includes(wanted))
        .map(({ status }) => status),
    ),
  ];
  const used = ERROR_CODES.filter((code) => statuses(code).length > 0).toSorted();
  return (
    <dl className="docs-members docs-codes">
      {used.map((code) => (
        <div key={code} id={`error-${code}`}>
          <dt>
            <code>{code}</code>{" "}
            <span className="docs-type">
              {statuses(code)
                .toSorted((a, b) => a - b)
                .join(", ")}
            </span>
          </dt>
          <dd>
            <Prose text={ERROR_TEXTS[code].meaning} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
