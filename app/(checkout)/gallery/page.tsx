import type { Metadata } from "next";
import { pageRequest } from "#components/checkout/page-request.ts";
import { Shell } from "#components/checkout/shell.tsx";
import { STATES } from "#components/checkout/state.ts";
import { UnknownPage } from "#components/checkout/unknown-page.tsx";
import { about } from "#server/http/about.ts";
import { setPageStatus } from "#server/http/page-status.ts";

export const dynamic = "force-dynamic";
export const metadata: Metadata = { title: "Gallery · Florin", robots: { index: false } };

type Props = { searchParams: Promise<Record<string, string | string[] | undefined>> };

/** All states of the checkout, to be looked at one by one; in a sandbox only. */
export default async function Gallery({ searchParams }: Props) {
  const request = await pageRequest("/gallery", await searchParams);
  if (about().mode !== "sandbox") {
    setPageStatus(request.nonce, 404);
    return <UnknownPage request={request} />;
  }
  return (
    <Shell request={request} sandbox>
      <main className="mx-auto w-full max-w-5xl px-5 py-10 sm:px-8">
        <h1 className="font-semibold text-2xl tracking-tight">Checkout states</h1>
        <ol className="mt-6 grid gap-1 sm:grid-cols-2">
          {STATES.map((state, index) => (
            <li key={state}>
              <a
                href={`/gallery/${state}?lang=${request.language}`}
                className="flex min-h-11 items-center gap-3 rounded-control px-3 hover:bg-soft"
              >
                <span className="digits w-6 text-end text-quiet">{index + 1}</span>
                {state.replaceAll("_", " ")}
              </a>
            </li>
          ))}
        </ol>
      </main>
    </Shell>
  );
}
