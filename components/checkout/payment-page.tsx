import type { ReactNode } from "react";
import { QrCode } from "#components/ui/qr-code.tsx";
import type { CheckoutView } from "#server/contract/checkout.ts";
import { accentCss } from "./accent.ts";
import { serverWords } from "./server-words.ts";
import { Columns, type PageRequest, Shell } from "./shell.tsx";

/** A payment's page: complete before any script runs, and a status page where none ever does. */
export function PaymentPage({
  request,
  view,
  link,
  children,
}: {
  request: PageRequest;
  view: CheckoutView;
  /** The payment's link, as the code holds it. */
  link: string;
  /** Draws the rest, given the code of the link. */
  children: (qr: ReactNode) => ReactNode;
}) {
  const { t } = serverWords(request.language);
  return (
    <Shell request={request} css={accentCss(view.merchant.accent)} sandbox={view.sandbox}>
      <Columns>{children(<QrCode text={link} label={t("qr.label")} className="w-full" />)}</Columns>
    </Shell>
  );
}
