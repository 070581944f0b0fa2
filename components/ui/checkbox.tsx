import type { ComponentProps, ReactNode } from "react";

/** A box to tick with its sentence; the whole line is the target. `error` is read out with it. */
export function Checkbox({
  id,
  error,
  children,
  ...rest
}: { id: string; error?: ReactNode; children: ReactNode } & Omit<
  ComponentProps<"input">,
  "type" | "children"
>) {
  const hasError = error !== undefined && error !== null;
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="flex min-h-11 cursor-pointer items-start gap-3 py-2.5 text-sm">
        <input
          id={id}
          type="checkbox"
          aria-describedby={hasError ? `${id}-error` : undefined}
          aria-invalid={hasError || undefined}
          className="mt-px size-5 shrink-0 accent-accent"
          {...rest}
        />
        <span>{children}</span>
      </label>
      {hasError && (
        <p id={`${id}-error`} className="text-bad text-sm">
          {error}
        </p>
      )}
    </div>
  );
}
