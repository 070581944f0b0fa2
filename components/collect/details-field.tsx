import { useTranslations } from "use-intl";
import { Field, type FieldControl } from "#components/ui/field.tsx";
import { Input } from "#components/ui/input.tsx";
import { Select } from "#components/ui/select.tsx";
import type { CollectField } from "#server/contract/collect.ts";
import type { Problem } from "./check.ts";
import type { Country } from "./country-names.ts";
import { birthBounds, purposeOf } from "./model.ts";
import { useProblemText } from "./problem-text.ts";

type Given = {
  field: CollectField;
  /** What stands in it at first. */
  known: string | undefined;
  problem: Problem | undefined;
  countries: readonly Country[];
  today: string;
  onChange: () => void;
};

function CountryControl({ control, given }: { control: FieldControl; given: Given }) {
  const t = useTranslations("collect");
  const { field, known, countries, onChange } = given;
  return (
    <Select
      {...control}
      name={field.name}
      defaultValue={known ?? ""}
      autoComplete={purposeOf(field.name)}
      required
      onChange={onChange}
    >
      <option value="">{t("choose")}</option>
      {countries.map(({ code, name }) => (
        <option key={code} value={code}>
          {name}
        </option>
      ))}
    </Select>
  );
}

function LineControl({ control, given }: { control: FieldControl; given: Given }) {
  const { field, known, today, onChange } = given;
  const shared = {
    ...control,
    name: field.name,
    defaultValue: known ?? "",
    autoComplete: purposeOf(field.name),
    required: true,
    onChange,
  };
  if (field.kind === "date") return <Input {...shared} type="date" {...birthBounds(today)} />;
  return <Input {...shared} type="text" dir="auto" autoCapitalize="words" spellCheck={false} />;
}

/** One question with its control; the browser's own, so that phones bring their keyboards, lists and calendars. */
export function DetailsField({ idPrefix, ...given }: Given & { idPrefix: string }) {
  const t = useTranslations("collect");
  const problemText = useProblemText(given.today);
  const { field, problem } = given;
  const Control = field.kind === "country" ? CountryControl : LineControl;
  return (
    <Field
      id={`${idPrefix}-${field.name}`}
      label={t.has(`label.${field.name}`) ? t(`label.${field.name}`) : field.title}
      hint={t.has(`hint.${field.name}`) ? t(`hint.${field.name}`) : undefined}
      error={problem === undefined ? undefined : problemText(field, problem)}
    >
      {(control) => <Control control={control} given={given} />}
    </Field>
  );
}
