"use client";
import { useEffect, useState } from "react";
import { CollectForm } from "#components/collect/collect-form.tsx";
import { utcDay } from "#components/collect/model.ts";
import { submitAnswers } from "#components/collect/submit.ts";
import { Button } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Spinner } from "#components/ui/spinner.tsx";
import type { CollectForm as Asked } from "#server/contract/collect.ts";
import type { ApiClient } from "#server/trpc/client.ts";
import type { Act } from "./act.ts";
import { useWords } from "./use-words.ts";

type Loaded = Asked | "loading" | "failed";

/** The form an account owes, inside the checkout; one that owes none goes on by itself. */
export function DetailsForm({
  api,
  paymentId,
  account,
  nowMs,
  act,
}: {
  api: ApiClient;
  paymentId: string;
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
    api.checkout.collectForm.query({ id: paymentId, account }).then(
      (asked) => {
        if (!isHere) return;
        if (asked === null || asked.given) act({ do: "details_given" });
        else setForm(asked);
      },
      () => isHere && setForm("failed"),
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
  if (form === "failed")
    return (
      <>
        <Notice tone="warn">{t("state.refused.server")}</Notice>
        <Button wide onClick={() => setTries(tries + 1)}>
          {t("action.retry")}
        </Button>
      </>
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
        else setForm("failed");
      }}
    />
  );
}
