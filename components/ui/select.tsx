import { ChevronDown } from "lucide-react";
import type { ComponentProps } from "react";
import { CONTROL } from "./input.tsx";

/** A choice of one; the browser's own list, so that phones show theirs. Use it inside a `Field`. */
export function Select({ className, children, ...rest }: ComponentProps<"select">) {
  return (
    <div className="relative">
      <select className={`${CONTROL} appearance-none pe-10 ${className ?? ""}`} {...rest}>
        {children}
      </select>
      <ChevronDown
        aria-hidden="true"
        className="pointer-events-none absolute inset-e-3.5 top-1/2 size-4 -translate-y-1/2 text-quiet"
      />
    </div>
  );
}
