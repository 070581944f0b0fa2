import type { Viewport } from "next";
import type { ReactNode } from "react";
import "#components/ui/theme.css";

export const viewport: Viewport = {
  width: "device-width",
  initialScale: 1,
  themeColor: [
    { media: "(prefers-color-scheme: light)", color: "#f8f6f2" },
    { media: "(prefers-color-scheme: dark)", color: "#141311" },
  ],
};

/** Brings the style of the checkout; its pages bring their own `html`. */
export default function CheckoutLayout({ children }: { children: ReactNode }) {
  return children;
}
