import { FlaskConical } from "lucide-react";
import { useEffect, useId, useRef, useSyncExternalStore } from "react";
import { Button } from "../ui/button.tsx";
import { Disclosure } from "../ui/disclosure.tsx";
import { Select } from "../ui/select.tsx";
import {
  type Asked,
  PERSONALITIES,
  type Personality,
  type SandboxWalletControls,
} from "./sandbox/personality.ts";

/** What the wallet is asked, as a real wallet's window shows it; takes the focus when it appears. */
function Request({ asked, onAnswer }: { asked: Asked; onAnswer: (approved: boolean) => void }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const before = useRef<Element | null>(null);
  useEffect(() => {
    before.current = document.activeElement;
    heading.current?.focus();
    return () => {
      if (before.current instanceof HTMLElement) before.current.focus();
    };
  }, []);
  return (
    <div className="border-line border-t p-4">
      <h2 ref={heading} tabIndex={-1} className="font-semibold text-base outline-none">
        {asked.title}
      </h2>
      <dl className="mt-2 grid gap-1.5 text-sm">
        {asked.facts.map(({ name, value }) => (
          <div key={name} className="grid grid-cols-[7.5rem_1fr] gap-2">
            <dt className="truncate text-quiet">{name}</dt>
            <dd className="code-line font-mono text-xs leading-5">{value}</dd>
          </div>
        ))}
      </dl>
      <Disclosure title="All of it, as the page handed it in" className="mt-1">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
        <pre tabIndex={0} className="max-h-48 overflow-auto rounded-control bg-soft p-3 text-xs">
          {asked.raw}
        </pre>
      </Disclosure>
      <div className="mt-3 grid grid-cols-2 gap-2">
        <Button kind="secondary" onClick={() => onAnswer(false)}>
          Reject
        </Button>
        <Button onClick={() => onAnswer(true)}>Approve</Button>
      </div>
    </div>
  );
}

const shortened = (address: string) => `${address.slice(0, 6)}…${address.slice(-4)}`;

/** The window of the sandbox wallet: what it is asked, the answer to it, and how it shall behave. In sandbox mode only. */
export function SandboxPanel({ wallet }: { wallet: SandboxWalletControls }) {
  const { address, network, personality, asked, note } = useSyncExternalStore(
    wallet.subscribe,
    wallet.view,
    wallet.view,
  );
  const label = useId();
  return (
    <>
      {/* The end of a narrow page can be scrolled out from under the window. */}
      <div aria-hidden="true" className="h-32 lg:hidden print:hidden" />
      <aside
        aria-label="Sandbox wallet"
        className="fixed inset-x-2 bottom-2 z-50 max-h-[85dvh] overflow-y-auto rounded-box border border-edge bg-card text-ink shadow-box sm:inset-x-auto sm:start-4 sm:bottom-4 sm:w-96 print:hidden"
      >
        <details className="group">
          <summary className="flex min-h-12 items-center gap-3 px-4 py-2">
            <FlaskConical aria-hidden="true" className="size-5 shrink-0 text-warn" />
            <span className="grid flex-1 leading-tight">
              <span className="font-medium text-sm">Sandbox wallet</span>
              <span className="text-quiet text-xs">
                <span className="code-line">{shortened(address)}</span> on {network}
              </span>
            </span>
            <span className="text-quiet text-xs group-open:hidden">Settings</span>
          </summary>
          <div className="grid gap-1 px-4 pb-4">
            <label htmlFor={label} className="font-medium text-sm">
              When it is asked to sign, it
            </label>
            <Select
              id={label}
              value={personality}
              onChange={({ target }) => wallet.choose(target.value as Personality)}
            >
              {PERSONALITIES.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </Select>
            <p className="mt-1 text-quiet text-xs">
              Its key was made in this tab and its money is test money. It signs for real, on this
              sandbox alone.
            </p>
          </div>
        </details>
        {asked !== null && <Request asked={asked} onAnswer={wallet.answer} />}
        <p
          role="status"
          className={
            note === null ? "sr-only" : "border-line border-t px-4 py-2 text-quiet text-xs"
          }
        >
          {note ?? ""}
        </p>
      </aside>
    </>
  );
}
