import type { ReactNode } from "react";
import "#components/ui/theme.css";
import "#components/collect/forced-theme.css";

/** The frame of the page a wallet shows; the page brings its own `html`. */
export default function CollectLayout({ children }: { children: ReactNode }) {
  return children;
}
