import type { Metadata } from "next";
import { cache } from "react";
import { BusyPage } from "#components/checkout/busy-page.tsx";
import { LiveCheckout } from "#components/checkout/live.tsx";
import { pageRequest } from "#components/checkout/page-request.ts";
import { PaymentPage } from "#components/checkout/payment-page.tsx";
import { phaseOf, titleOf } from "#components/checkout/phase.ts";
import { serverWords } from "#components/checkout/server-words.ts";
import { UnknownPage } from "#components/checkout/unknown-page.tsx";
import { setPageStatus } from "#server/http/page-status.ts";
import { openCheckout } from "#server/trpc/checkout-page.ts";

type Props = {
  params: Promise<{ paymentId: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
};

/** Title and page are of one reading. */
const open = cache(openCheckout);

async function readRequest({ params, searchParams }: Props) {
  const { paymentId } = await params;
  return { paymentId, request: await pageRequest(`/${paymentId}`, await searchParams) };
}

export async function generateMetadata(props: Props): Promise<Metadata> {
  const { paymentId, request } = await readRequest(props);
  const opened = await open(paymentId);
  const words = serverWords(request.language);
  const common = { referrer: "no-referrer", robots: { index: false, follow: false } } as const;
  if (opened.kind !== "open") return { title: words.t("page.titleUnknown"), ...common };
  const { view } = opened;
  return { title: titleOf(words, view, phaseOf(view)), ...common };
}

/** The page of one payment: its checkout while it is open, then where it stands, then its receipt. */
export default async function CheckoutPage(props: Props) {
  const { paymentId, request } = await readRequest(props);
  const opened = await open(paymentId);
  if (opened.kind === "unknown") {
    setPageStatus(request.nonce, 404);
    return <UnknownPage request={request} />;
  }
  if (opened.kind === "busy") {
    setPageStatus(request.nonce, opened.status);
    return <BusyPage request={request} />;
  }
  const { view, chains, link } = opened;
  return (
    <PaymentPage request={request} view={view} link={link}>
      {(qr) => <LiveCheckout initial={view} chains={chains} link={link} qr={qr} />}
    </PaymentPage>
  );
}
