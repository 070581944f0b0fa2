"use client";
import { type ReactNode, useId, useMemo, useState, useSyncExternalStore } from "react";
import { useLocale, useTranslations } from "use-intl";
import { Button } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";
import type { CollectForm as Asked, CollectField } from "#server/contract/collect.ts";
import type { Problems } from "./check.ts";
import { Consent } from "./consent.tsx";
import { type Country, countryNames } from "./country-names.ts";
import { DetailsField } from "./details-field.tsx";
import { DetailsUse } from "./details-use.tsx";
import { answersOf, consentsOf, groupKnownBest, type Known, utcDay } from "./model.ts";
import { PlaceChoice } from "./place-choice.tsx";
import { useProblemText } from "./problem-text.ts";
import { type FormEvents, type Trouble, useDetails } from "./use-details.ts";

export type CollectFormProps = FormEvents & {
  /** What the server asks for. */
  asked: Pick<Asked, "required" | "oneOf" | "keptDays">;
  /** What stands in the fields at first. */
  known?: Known;
  /** Today by the server's clock, YYYY-MM-DD; left out: by the browser's. */
  today?: string;
  /** Left out: the browser's own names. */
  countries?: readonly Country[];
  /** Terms the operator publishes; null: what this page says itself. */
  termsUrl?: string | null;
};

const never = () => () => {};
/** Whether the page's script runs yet: before that, the browser would send the form by itself. */
const useIsAlive = () =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  );

/** Told once after each attempt, and not again while the buyer corrects. */
function Summary({
  number,
  problems,
  fields,
  today,
}: {
  number: number;
  problems: Problems;
  fields: readonly CollectField[];
  today: string;
}) {
  const t = useTranslations("collect");
  const problemText = useProblemText(today);
  const wrong = fields.flatMap((field) => {
    const problem = problems[field.name];
    if (problem === undefined) return [];
    const label = t.has(`label.${field.name}`) ? t(`label.${field.name}`) : null;
    return [[label, problemText(field, problem)].filter(Boolean).join(": ")];
  });
  return (
    <div role="alert" className="sr-only">
      {wrong.length > 0 && (
        <p key={number}>{[t("summary", { count: wrong.length }), ...wrong].join(" ")}</p>
      )}
    </div>
  );
}

function TroubleNotice({ trouble }: { trouble: Trouble | null }) {
  const t = useTranslations("collect.trouble");
  return (
    <div role="alert" className="not-empty:mb-4">
      {trouble !== null && (
        <Notice tone={trouble === "unreachable" ? "warn" : "bad"}>
          <strong className="block font-medium">{t(`${trouble}Title`)}</strong>
          {t(trouble)}
        </Notice>
      )}
    </div>
  );
}

/** The group that is not chosen keeps what was typed, and is neither seen nor sent. */
const Group = ({ open, children }: { open: boolean; children: ReactNode }) => (
  <fieldset disabled={!open} hidden={!open} className="grid min-w-0 gap-5">
    {children}
  </fieldset>
);

/**
 * The buyer's details. It checks them by the server's rules, hands them to `onSubmit`, shows what the server found
 * beside the field, and can be sent again where the answer never came; it knows nothing of who shows it.
 */
export function CollectForm(props: CollectFormProps) {
  const { asked, known = {}, termsUrl = null } = props;
  const t = useTranslations("collect");
  const locale = useLocale();
  const id = useId();
  const isAlive = useIsAlive();
  const [today] = useState(() => props.today ?? utcDay(new Date()));
  const [chosen, choose] = useState(() => groupKnownBest(asked, known));
  const countries = useMemo(
    () => props.countries ?? countryNames(locale),
    [props.countries, locale],
  );
  const state = useDetails(asked, today, chosen, props);
  const { problems, attempt, trouble, sending } = state;
  const draw = (field: CollectField) => (
    <DetailsField
      key={field.name}
      idPrefix={id}
      field={field}
      known={known[field.name]}
      problem={problems[field.name]}
      countries={countries}
      today={today}
      onChange={() => state.mend(field.name)}
    />
  );
  return (
    <form ref={state.form} method="post" noValidate onSubmit={state.submit} className="grid gap-5">
      <Summary
        number={attempt.number}
        problems={attempt.problems}
        fields={state.fields}
        today={today}
      />
      {answersOf(asked).map(draw)}
      {asked.oneOf.length > 1 && (
        <PlaceChoice idPrefix={id} groups={asked.oneOf} chosen={chosen} onChoose={choose} />
      )}
      {asked.oneOf.map((group, index) => (
        <Group key={group[0]?.name} open={index === chosen}>
          {group.map(draw)}
        </Group>
      ))}
      <DetailsUse id={`${id}-use`} days={asked.keptDays} />
      {consentsOf(asked).map((field) => (
        <Consent
          key={field.name}
          id={`${id}-${field.name}`}
          field={field}
          problem={problems[field.name]}
          termsUrl={termsUrl}
          explainedAt={`${id}-use`}
          onChange={() => state.mend(field.name)}
        />
      ))}
      <div>
        <TroubleNotice trouble={trouble} />
        <Button type="submit" wide busy={sending} disabled={!isAlive}>
          {sending ? t("sending") : t(trouble === null ? "submit" : "trouble.again")}
        </Button>
      </div>
    </form>
  );
}
