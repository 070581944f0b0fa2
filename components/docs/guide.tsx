import type { ReactNode } from "react";
import { EVENT_EXAMPLE } from "#server/contract/example-events.ts";
import type { Operation } from "#server/contract/operation.ts";
import { CodeBlock } from "./code-block.tsx";
import { AllErrors } from "./errors.tsx";
import { LIMIT_TEXTS, LIMITS } from "./limits.ts";
import type { Stop } from "./reference-nav.tsx";

/** What holds for every call; the order in which it is told. */
export const GUIDE: readonly Stop[] = [
  { id: "authentication", title: "Authentication" },
  { id: "values", title: "Amounts, times, members" },
  { id: "repeating", title: "Repeating calls" },
  { id: "versions", title: "Versions" },
  { id: "limits", title: "Limits" },
  { id: "webhooks", title: "Receiving webhooks" },
  { id: "errors", title: "Errors" },
];

function Chapter({ id, children }: { id: string; children: ReactNode }) {
  return (
    <section id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{GUIDE.find((stop) => stop.id === id)?.title}</h2>
      {children}
    </section>
  );
}

function Credentials() {
  return (
    <Chapter id="authentication">
      <p>
        A merchant's backend sends <code>Api-Key</code> and <code>Merchant-Id</code>; calls about a
        partner's merchants need the key alone. A wallet's backend sends its own{" "}
        <code>Api-Key</code>; an app, which cannot keep a secret, sends <code>App-Id</code> with a{" "}
        <code>Client-Id</code> of its installation. Keys that begin with <code>sk_test_</code> or{" "}
        <code>gk_test_</code> see test money only. A key must never reach a browser.
      </p>
    </Chapter>
  );
}

function Values() {
  return (
    <Chapter id="values">
      <p>
        An amount is a whole number of the unit's smallest part, as text: <code>"1250"</code> of{" "}
        <code>iso4217/USD</code> is 12.50 USD. Read it as a big integer, never as a float. Times are
        Unix seconds where they are numbers and ISO 8601 in UTC where they are text. Members of a
        body that nobody asked for are ignored; answers may get new members and new error codes, so
        ignore what you do not know.
      </p>
    </Chapter>
  );
}

function Repeating() {
  return (
    <Chapter id="repeating">
      <p>
        A 4xx answer is not worth repeating. Repeat after 5xx, and where no answer came: three
        times, after 100 ms and then twice as long each, plus some random time. Send an{" "}
        <code>Idempotency-Key</code> with every <code>POST</code>: a repetition with the same key
        and body gets the first answer, with <code>Idempotent-Replayed: true</code>, and does
        nothing twice. Keys are kept for 7 days.
      </p>
      <p>
        Ask again for a status after <code>pollInMs</code>, or add <code>maxPollMs</code>: then the
        answer comes as soon as something changes. A status that is final never changes again.
      </p>
    </Chapter>
  );
}

function Versions({ versions }: { versions: readonly string[] }) {
  return (
    <Chapter id="versions">
      <p>
        This server speaks{" "}
        {versions.map((version, index) => (
          <span key={version}>
            {index === 0 ? "" : " and "}
            <code>{version}</code>
          </span>
        ))}
        . A partner is pinned to the newest stable version on the day it is created. Ask for a newer
        one with <code>Service-Version</code>; the answer names the version it is written in.
      </p>
    </Chapter>
  );
}

function Limits({ sandbox }: { sandbox: boolean }) {
  return (
    <Chapter id="limits">
      <p>
        Calls over a limit are answered with 429 and <code>Retry-After</code>. Every answer says in{" "}
        <code>RateLimit</code> how many calls are left.
      </p>
      <table className="docs-errors docs-limits">
        <thead>
          <tr>
            <th scope="col">What is counted</th>
            <th scope="col">Calls</th>
          </tr>
        </thead>
        <tbody>
          {LIMITS.map(({ name, calls, sandboxCalls, windowS }) => (
            <tr key={name}>
              <td>{LIMIT_TEXTS[name]}</td>
              <td>
                {(sandbox ? sandboxCalls : calls).toLocaleString("en")} in {windowS} s
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Chapter>
  );
}

function Webhooks() {
  return (
    <Chapter id="webhooks">
      <p>
        Events are sent as <code>POST</code> to every address a merchant registers, signed as
        Standard Webhooks asks: check <code>webhook-id</code>, <code>webhook-timestamp</code> and{" "}
        <code>webhook-signature</code> against the secret before you believe a word. Answer with 2xx
        within 15 seconds; otherwise an event is sent again, ten times in 75 hours. An event may
        come twice, and events of different payments in any order: keep the ids you have seen. What
        webhooks tell is also in the <a href="#listEvents">feed of events</a>.
      </p>
      <CodeBlock title="An event" code={JSON.stringify(EVENT_EXAMPLE, null, 2)} />
    </Chapter>
  );
}

/** The chapters on what holds for every call. */
export function Guide({
  operations,
  versions,
  sandbox,
}: {
  operations: Operation[];
  versions: readonly string[];
  sandbox: boolean;
}) {
  return (
    <div className="docs-guide">
      <Credentials />
      <Values />
      <Repeating />
      <Versions versions={versions} />
      <Limits sandbox={sandbox} />
      <Webhooks />
      <Chapter id="errors">
        <p>
          Branch on <code>code</code>, never on <code>message</code>. Quote <code>requestId</code>{" "}
          when you ask for help: it is in the server's log. Below, each code with its statuses.
        </p>
        <AllErrors operations={operations} />
      </Chapter>
    </div>
  );
}
