import { Card } from "#components/ui/card.tsx";
import { Facts } from "#components/ui/facts.tsx";
import { about } from "#server/http/about.ts";

export const dynamic = "force-dynamic";

const MODES: Record<string, string> = {
  live: "live: real money",
  staging: "staging: public test networks",
  sandbox: "sandbox: local chains, no real money",
};

const ENDPOINTS = [
  ["POST /v1/merchant/payment", "a merchant creates a payment"],
  ["GET /v1/merchant/payment/{id}/status", "a merchant asks where it stands"],
  ["GET /v1/payments/{id}", "all details, with the settlement"],
  ["POST /v1/gateway/payment/{id}/options", "a wallet asks what its accounts can pay with"],
  ["POST /v1/gateway/payment/{id}/confirm", "a wallet hands in what the buyer signed"],
] as const;

/** Says what is running here, to a person who opens the server's address. */
export default function FrontPage() {
  const { mode, baseUrl, apiVersions, chains } = about();
  return (
    <main>
      <h1>Florin</h1>
      <p className="lead">
        This server takes payments in stablecoins and settles them to merchants.
      </p>
      <Card title="What is running">
        <Facts
          facts={[
            ["Mode", MODES[mode] ?? mode],
            ["API", `${baseUrl}/v1`],
            ["API versions", apiVersions.join(", ")],
          ]}
        />
      </Card>
      <Card title="Chains">
        <ul className="list">
          {chains.map(({ id, name, tokens }) => (
            <li key={id}>
              {name} <code className="quiet">{id}</code>
              <br />
              <span className="quiet">accepts {tokens.join(", ")}</span>
            </li>
          ))}
        </ul>
      </Card>
      <Card title="The API in five calls">
        <ul className="list">
          {ENDPOINTS.map(([call, meaning]) => (
            <li key={call}>
              <code>{call}</code>
              <br />
              <span className="quiet">{meaning}</span>
            </li>
          ))}
        </ul>
      </Card>
      <p>
        <a href="/readme">Read the README</a> to try a payment, or the{" "}
        <a href="/docs/api">API reference</a> to build on it. A supervisor reads{" "}
        <a href="/healthz">health</a> and <a href="/readyz">readiness</a>.
      </p>
    </main>
  );
}
