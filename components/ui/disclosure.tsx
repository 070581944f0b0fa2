import { ChevronDown } from "lucide-react";
import type { ReactNode } from "react";

/** Something folded away; the browser's own, so that it opens without script and prints what it holds. */
export function Disclosure({
  title,
  open,
  children,
  className,
}: {
  title: ReactNode;
  open?: boolean;
  children: ReactNode;
  className?: string;
}) {
  return (
    <details open={open} className={`group ${className ?? ""}`}>
      <summary className="flex min-h-11 items-center justify-between gap-3 rounded-control text-quiet text-sm hover:text-ink">
        <span>{title}</span>
        <ChevronDown
          aria-hidden="true"
          className="size-4 shrink-0 transition-transform group-open:rotate-180 print:hidden"
        />
      </summary>
      <div className="pt-1 pb-2">{children}</div>
    </details>
  );
}
