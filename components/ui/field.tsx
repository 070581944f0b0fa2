import type { ReactNode } from "react";

/** What a control inside a field takes over, so that label, hint and error are read out with it. */
export type FieldControl = {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
};

/** A labelled control; `error` stands beside it, says what is accepted, and is read out with it. */
export function Field({
  id,
  label,
  hint,
  error,
  children,
}: {
  id: string;
  label: ReactNode;
  hint?: ReactNode;
  error?: ReactNode;
  children: (control: FieldControl) => ReactNode;
}) {
  const hasHint = hint !== undefined && hint !== null;
  const hasError = error !== undefined && error !== null;
  const described = [hasHint && `${id}-hint`, hasError && `${id}-error`].filter(Boolean).join(" ");
  return (
    <div className="grid gap-1.5">
      <label htmlFor={id} className="font-medium text-sm">
        {label}
      </label>
      {hasHint && (
        <p id={`${id}-hint`} className="text-quiet text-sm">
          {hint}
        </p>
      )}
      {children({
        id,
        "aria-describedby": described === "" ? undefined : described,
        "aria-invalid": hasError || undefined,
      })}
      {hasError && (
        <p id={`${id}-error`} className="text-bad text-sm">
          {error}
        </p>
      )}
    </div>
  );
}
