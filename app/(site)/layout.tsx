import type { ReactNode } from "react";
import "./site.css";

/** The frame of the pages about this server. */
export default function SiteLayout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
