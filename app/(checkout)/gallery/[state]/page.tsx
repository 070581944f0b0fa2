import type { Metadata } from "next";
import { GalleryStage } from "#components/checkout/gallery/gallery-stage.tsx";
import { galleryScreen, isState, type Variation } from "#components/checkout/gallery/states.ts";
import { pageRequest } from "#components/checkout/page-request.ts";
import { PaymentPage } from "#components/checkout/payment-page.tsx";
import type { PageRequest } from "#components/checkout/shell.tsx";
import { UnknownPage } from "#components/checkout/unknown-page.tsx";
import { about } from "#server/http/about.ts";
import { setPageStatus } from "#server/http/page-status.ts";

export const dynamic = "force-dynamic";
export const metadata: Metadata = { title: "Gallery · Florin", robots: { index: false } };

/** Characters a shop may give its name. */
const LONGEST_NAME = 256;

type Props = {
  params: Promise<{ state: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
};

/** `merchant` in the address is another name of the shop; `closing` shows the last quarter of the time. */
const variationOf = ({ merchant, closing }: PageRequest["search"]): Variation => ({
  merchant: typeof merchant === "string" ? merchant.slice(0, LONGEST_NAME) : null,
  closing: closing !== undefined,
});

/** One state of the checkout, drawn by its real components; in a sandbox only. */
export default async function GalleryState({ params, searchParams }: Props) {
  const { state } = await params;
  const request = await pageRequest(`/gallery/${state}`, await searchParams);
  const shown = about().mode === "sandbox" && isState(state);
  if (!shown) setPageStatus(request.nonce, 404);
  if (!shown || state === "unknown") return <UnknownPage request={request} />;
  const variation = variationOf(request.search);
  const { view } = galleryScreen(state, variation);
  const link = `${about().baseUrl}/${view.id}`;
  return (
    <PaymentPage request={request} view={view} link={link}>
      {(qr) => <GalleryStage state={state} variation={variation} qr={qr} link={link} />}
    </PaymentPage>
  );
}
