import { Check, Globe } from "lucide-react";

/** Links to the same page in other languages; they need no script, and the choice stays in the address. */
export function LanguagePicker({
  label,
  current,
  languages,
}: {
  label: string;
  current: string;
  languages: readonly { code: string; name: string; href: string }[];
}) {
  const chosen = languages.find(({ code }) => code === current);
  return (
    <details className="relative print:hidden">
      <summary className="inline-flex min-h-11 items-center gap-2 rounded-control px-2 text-quiet text-sm hover:text-ink">
        <Globe aria-hidden="true" className="size-4" />
        <span className="sr-only">{label}: </span>
        {chosen?.name ?? current}
      </summary>
      <ul className="absolute inset-e-0 bottom-full z-10 mb-1 min-w-44 rounded-control border border-line bg-card p-1 shadow-box">
        {languages.map(({ code, name, href }) => (
          <li key={code}>
            <a
              href={href}
              hrefLang={code}
              lang={code}
              aria-current={code === current ? "true" : undefined}
              className="flex min-h-11 items-center justify-between gap-4 rounded-md px-3 text-sm hover:bg-soft"
            >
              {name}
              {code === current && <Check aria-hidden="true" className="size-4" />}
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}
