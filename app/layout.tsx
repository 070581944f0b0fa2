import type { Metadata } from "next";
import type { ReactNode } from "react";

/** Every page is made anew for each request: its scripts carry the nonce of that answer's policy, which a stored page cannot. */
export const dynamic = "force-dynamic";

export const metadata: Metadata = {
  title: "Florin",
  description: "Self-hosted payments with stablecoins and other crypto assets.",
};

/** Nothing of its own: each group of pages brings its `html`, those of buyers with the language they chose. */
export default function Layout({ children }: { children: ReactNode }) {
  return children;
}
