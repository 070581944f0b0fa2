import { useTranslations } from "use-intl";
import type { CollectField } from "#server/contract/collect.ts";

/** Which of the places the buyer gives; both lead to the same end. */
export function PlaceChoice({
  idPrefix,
  groups,
  chosen,
  onChoose,
}: {
  idPrefix: string;
  groups: readonly (readonly CollectField[])[];
  chosen: number;
  onChoose: (index: number) => void;
}) {
  const t = useTranslations("collect");
  return (
    <fieldset className="grid gap-1.5">
      <legend className="mb-1.5 font-medium text-sm">{t("place.legend")}</legend>
      <div className="grid gap-1 rounded-control bg-soft p-1 sm:grid-cols-2">
        {groups.map(([first], index) => (
          <label
            key={first?.name}
            className="flex min-h-11 cursor-pointer items-center gap-2.5 rounded-md border border-transparent px-3 text-sm has-checked:border-edge has-checked:bg-card has-checked:font-medium has-checked:shadow-box"
          >
            <input
              type="radio"
              name={`${idPrefix}-place`}
              checked={index === chosen}
              onChange={() => onChoose(index)}
              className="size-4 shrink-0 accent-accent"
            />
            {t.has(`place.${first?.name}`) ? t(`place.${first?.name}`) : first?.title}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
