import type { Metadata } from "next";
import { GUIDE, Guide } from "#components/docs/guide.tsx";
import { Objects } from "#components/docs/objects.tsx";
import { OperationSection } from "#components/docs/operation-section.tsx";
import { QuickStartSection } from "#components/docs/quick-start-section.tsx";
import { type Group, ReferenceNav } from "#components/docs/reference-nav.tsx";
import { Facts } from "#components/ui/facts.tsx";
import { describeContract, TAGS } from "#server/contract/operation.ts";
import { about } from "#server/http/about.ts";
import "./docs.css";

export const dynamic = "force-dynamic";
export const metadata: Metadata = { title: "API reference · Florin" };

const { operations, components } = describeContract();
const GROUPS: Group[] = TAGS.map(({ name, description }) => ({
  name,
  id: `group-${name.toLowerCase().replaceAll(" ", "-")}`,
  description,
  operations: operations.filter(({ tag }) => tag === name),
})).filter((group) => group.operations.length > 0);
const STOPS = [{ id: "quick-start", title: "Quick start" }, ...GUIDE];

/** The reference of the API, made of the contract; it needs no script and nothing from elsewhere. */
export default function ApiReference() {
  const { mode, baseUrl, apiVersions } = about();
  return (
    <div className="docs">
      <ReferenceNav stops={STOPS} groups={GROUPS} />
      <main className="docs-main">
        <header>
          <p>
            <a href="/">Florin</a>
          </p>
          <h1>API reference</h1>
          <p className="lead">Take payments in stablecoins over REST and JSON.</p>
          <Facts
            facts={[
              ["Address", `${baseUrl}/v1`],
              ["Versions", apiVersions.join(", ")],
            ]}
          />
          <p>
            For programs: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1)
          </p>
        </header>
        <QuickStartSection />
        <Guide operations={operations} versions={apiVersions} sandbox={mode === "sandbox"} />
        {GROUPS.map(({ name, id, description, operations: members }) => (
          <section key={name} id={id} aria-labelledby={`${id}-title`}>
            <h2 id={`${id}-title`}>{name}</h2>
            <p className="quiet">{description}</p>
            {members.map((operation) => (
              <OperationSection
                key={operation.endpoint.operation}
                operation={operation}
                baseUrl={baseUrl}
                components={components}
              />
            ))}
          </section>
        ))}
        <Objects components={components} />
      </main>
    </div>
  );
}
