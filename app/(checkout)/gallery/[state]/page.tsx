import type { Metadata } from "next";
import { GalleryStage } from "#components/checkout/gallery/gallery-stage.tsx";
import { galleryScreen, isState } from "#components/checkout/gallery/states.ts";
import { pageRequest } from "#components/checkout/page-request.ts";
import { PaymentPage } from "#components/checkout/payment-page.tsx";
import { UnknownPage } from "#components/checkout/unknown-page.tsx";
import { about } from "#server/http/about.ts";
import { setPageStatus } from "#server/http/page-status.ts";

export const dynamic = "force-dynamic";
export const metadata: Metadata = { title: "Gallery · Florin", robots: { index: false } };

type Props = {
  params: Promise<{ state: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
};

/** One state of the checkout, drawn by its real components; in a sandbox only. */
export default async function GalleryState({ params, searchParams }: Props) {
  const { state } = await params;
  const request = await pageRequest(`/gallery/${state}`, await searchParams);
  const shown = about().mode === "sandbox" && isState(state);
  if (!shown) setPageStatus(request.nonce, 404);
  if (!shown || state === "unknown") return <UnknownPage request={request} />;
  const { view } = galleryScreen(state);
  const link = `${about().baseUrl}/${view.id}`;
  return (
    <PaymentPage request={request} view={view} link={link}>
      {(qr) => <GalleryStage state={state} qr={qr} link={link} />}
    </PaymentPage>
  );
}
