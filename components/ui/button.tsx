import { cva, type VariantProps } from "class-variance-authority";
import type { ComponentProps, ReactNode } from "react";
import { Spinner } from "./spinner.tsx";

/** The look every button shares; what carries it brings no size or colour of its own. */
export const buttonLook = cva(
  "wrap-anywhere inline-flex min-h-12 min-w-0 cursor-pointer items-center justify-center gap-2 rounded-control px-5 py-2.5 text-center font-medium text-base leading-tight motion-safe:transition-shadow disabled:cursor-default aria-disabled:cursor-default print:hidden",
  {
    variants: {
      kind: {
        primary:
          "border border-transparent bg-accent text-accent-ink hover:ring-4 hover:ring-accent/20 aria-disabled:opacity-60 disabled:opacity-60",
        secondary:
          "border border-edge bg-card text-ink hover:bg-soft aria-disabled:text-quiet disabled:text-quiet",
        quiet:
          "min-h-11 px-3 text-quiet underline decoration-transparent underline-offset-4 hover:text-ink hover:decoration-current",
      },
      wide: { true: "w-full", false: "" },
    },
    defaultVariants: { kind: "primary", wide: false },
  },
);

type Look = VariantProps<typeof buttonLook>;

/** `busy` keeps the button in its place and in the tab order, and lets it do nothing. Where no script runs, one that sends no form would do nothing: there it is not shown. */
export function Button({
  kind,
  wide,
  busy = false,
  className,
  children,
  onClick,
  type = "button",
  ...rest
}: Look & { busy?: boolean; children: ReactNode } & ComponentProps<"button">) {
  return (
    <button
      type={type}
      className={`${type === "button" ? "noscript:hidden" : ""} ${buttonLook({ kind, wide })} ${className ?? ""}`}
      aria-disabled={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
      {...rest}
    >
      {busy && <Spinner />}
      {children}
    </button>
  );
}

/** A link that looks like a button: it leads to an address and needs no script. */
export function ButtonLink({
  kind,
  wide,
  className,
  children,
  ...rest
}: Look & { children: ReactNode } & ComponentProps<"a">) {
  return (
    <a className={`${buttonLook({ kind, wide })} ${className ?? ""}`} {...rest}>
      {children}
    </a>
  );
}
