import type { ComponentProps } from "react";

/** The look every box to write or choose in shares. */
export const CONTROL =
  "min-h-12 w-full rounded-control border border-edge bg-card px-3.5 py-2.5 text-base text-ink placeholder:text-quiet aria-invalid:border-bad aria-invalid:outline-bad";

/** A line of text to fill in; use it inside a `Field`. */
export function Input({ className, ...rest }: ComponentProps<"input">) {
  return <input className={`${CONTROL} ${className ?? ""}`} {...rest} />;
}
