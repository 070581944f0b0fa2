"use client";
import { useEffect, useState } from "react";
import { useTranslations } from "use-intl";
import { CollectForm } from "#components/collect/collect-form.tsx";
import { utcDay } from "#components/collect/model.ts";
import type { Refusal } from "#components/collect/refusal.ts";
import { readFailure, submitAnswers } from "#components/collect/submit.ts";
import { Button } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Spinner } from "#components/ui/spinner.tsx";
import type { CollectForm as Asked } from "#server/contract/collect.ts";
import type { ApiClient } from "#server/trpc/client.ts";
import type { Act } from "./act.ts";
import { useWords } from "./use-words.ts";

/** Why there is no form: the server did not answer, or had too much to do, or will not take any details. */
type Failure = "unreachable" | "busy" | "expired" | "state" | "other";
type Loaded = Asked | "loading" | { failure: Failure };

/** Milliseconds the form may take to come. */
const PATIENCE_MS = 20_000;

/** A link that does not hold is none of the buyer's making here: the page made it. */
const ofRefusal = (refusal: Refusal): Failure => (refusal === "link" ? "other" : refusal);

function failureOf(error: unknown): Failure {
  const failed = readFailure(error);
  if (failed.kind === "refused") return ofRefusal(failed.refusal);
  return failed.kind === "busy" ? "busy" : "unreachable";
}

const TITLES = {
  busy: "trouble.busyTitle",
  expired: "refused.expiredTitle",
  state: "refused.stateTitle",
  other: "refused.otherTitle",
} as const;

/** Says what went wrong; a new try where one may help. */
function NoForm({
  failure,
  merchant,
  onRetry,
}: {
  failure: Failure;
  merchant: string;
  onRetry: () => void;
}) {
  const { t } = useWords();
  const collect = useTranslations("collect");
  return (
    <>
      <Notice tone="warn">
        {failure === "unreachable" ? (
          t("state.refused.server")
        ) : (
          <>
            <strong className="block font-medium">{collect(TITLES[failure])}</strong>
            {t(`details.${failure}`, { merchant })}
          </>
        )}
      </Notice>
      {failure !== "expired" && (
        <Button wide onClick={onRetry}>
          {t("action.retry")}
        </Button>
      )}
    </>
  );
}

/** The form an account owes, inside the checkout; one that owes none goes on by itself. */
export function DetailsForm({
  api,
  paymentId,
  merchant,
  account,
  nowMs,
  act,
}: {
  api: ApiClient;
  paymentId: string;
  merchant: string;
  account: string;
  nowMs: number;
  act: Act;
}) {
  const { t } = useWords();
  const [form, setForm] = useState<Loaded>("loading");
  const [tries, setTries] = useState(0);
  const [today] = useState(() => utcDay(new Date(nowMs)));
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new try is a reason to read again; who is told does not matter
  useEffect(() => {
    let isHere = true;
    setForm("loading");
    const signal = AbortSignal.timeout(PATIENCE_MS);
    api.checkout.collectForm.query({ id: paymentId, account }, { signal }).then(
      (asked) => {
        if (!isHere) return;
        if (asked === null || asked.given) act({ do: "details_given" });
        else setForm(asked);
      },
      (error) => isHere && setForm({ failure: failureOf(error) }),
    );
    return () => {
      isHere = false;
    };
  }, [api, paymentId, account, tries]);

  if (form === "loading")
    return (
      <p className="flex items-center gap-3 py-6 text-quiet">
        <Spinner />
        {t("state.loading.title")}
      </p>
    );
  if ("failure" in form)
    return (
      <NoForm failure={form.failure} merchant={merchant} onRetry={() => setTries(tries + 1)} />
    );
  const link = { pid: form.paymentId, accounts: form.accounts, t: form.token };
  return (
    <CollectForm
      asked={form}
      today={today}
      onSubmit={async (answers) => {
        const sent = await submitAnswers(api, link, answers);
        if (sent.kind === "rejected") act({ do: "details_rejected" });
        return sent;
      }}
      onEnd={(ended) => {
        if (ended.kind === "stored") act({ do: "details_given" });
        else setForm({ failure: ofRefusal(ended.refusal) });
      }}
    />
  );
}
