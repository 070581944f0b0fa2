import { useTranslations } from "use-intl";
import { Checkbox } from "#components/ui/checkbox.tsx";
import type { CollectField } from "#server/contract/collect.ts";
import type { Problem } from "./check.ts";
import { openDetailsUse } from "./details-use.tsx";

const LINK = "underline underline-offset-4 text-accent-text";

/** The box a buyer has to tick, with the way to what is agreed to. `termsUrl` null: it is on this page. */
export function Consent({
  id,
  field,
  problem,
  termsUrl,
  explainedAt,
  onChange,
}: {
  id: string;
  field: CollectField;
  problem: Problem | undefined;
  termsUrl: string | null;
  /** Where on this page it says how the details are used. */
  explainedAt: string;
  onChange: () => void;
}) {
  const t = useTranslations("collect");
  const sentence = t.rich("agree", {
    terms: (words) =>
      termsUrl === null ? (
        <a
          href={`#${explainedAt}`}
          className={LINK}
          onClick={(event) => {
            event.preventDefault();
            openDetailsUse(explainedAt);
          }}
        >
          {words}
        </a>
      ) : (
        <a href={termsUrl} target="_blank" rel="noopener noreferrer" className={LINK}>
          {words}
          <span className="sr-only"> ({t("newTab")})</span>
        </a>
      ),
  });
  return (
    <Checkbox
      id={id}
      name={field.name}
      value="true"
      required
      error={
        problem === undefined
          ? undefined
          : t(`problem.${problem}`, { max: 0, year: "", example: "" })
      }
      onChange={onChange}
    >
      {field.name === "tosConfirmed" ? sentence : field.title}
    </Checkbox>
  );
}
