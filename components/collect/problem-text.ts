import { useFormatter, useTranslations } from "use-intl";
import type { CollectField } from "#server/contract/collect.ts";
import { MAX_TEXT } from "#server/domain/collect/form.ts";
import type { Problem } from "./check.ts";
import { birthBounds } from "./model.ts";

const EXAMPLE = new Date("1990-12-31T00:00:00Z");

/** Gives the sentences that say what a field accepts. `today` as YYYY-MM-DD. */
export function useProblemText(today: string): (field: CollectField, problem: Problem) => string {
  const t = useTranslations("collect.problem");
  const format = useFormatter();
  return ({ kind, maxLength }, problem) => {
    if (problem === "required" && kind === "country") return t("requiredCountry");
    if (problem === "required" && kind === "date") return t("requiredDate");
    return t(problem, {
      max: maxLength ?? MAX_TEXT,
      year: birthBounds(today).min.slice(0, 4),
      example: format.dateTime(EXAMPLE, { dateStyle: "long", timeZone: "UTC" }),
    });
  };
}
