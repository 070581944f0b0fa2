import { ChevronDown } from "lucide-react";
import { useTranslations } from "use-intl";

const PARTS = ["what", "why", "how", "long", "money"] as const;

/** What happens to the answers, in full; folded away until somebody wants to know, and on this page so that nothing typed is lost. */
export function DetailsUse({ id, days }: { id: string; days: number }) {
  const t = useTranslations("collect.terms");
  return (
    <details id={id} className="group rounded-control border border-line">
      <summary className="flex min-h-11 items-center justify-between gap-3 rounded-control px-4 py-2.5 font-medium text-sm">
        {t("title")}
        <ChevronDown
          aria-hidden="true"
          className="size-4 shrink-0 text-quiet transition-transform group-open:rotate-180"
        />
      </summary>
      <dl className="grid gap-3 px-4 pt-1 pb-4 text-sm leading-relaxed">
        {PARTS.map((part) => (
          <div key={part}>
            <dt className="font-medium">{t(part)}</dt>
            <dd className="text-quiet">{t(`${part}Text`, { days })}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

/** Opens the answer on this page and leads there. */
export function openDetailsUse(id: string): void {
  const found = document.getElementById(id);
  if (!(found instanceof HTMLDetailsElement)) return;
  found.open = true;
  found.querySelector("summary")?.focus();
}
