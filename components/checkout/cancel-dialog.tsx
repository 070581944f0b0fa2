"use client";
import { useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { Notice } from "#components/ui/notice.tsx";
import type { CheckoutView } from "#server/contract/checkout.ts";
import { useWords } from "./use-words.ts";

/** Asks once more before a payment is cancelled; it says that nothing was charged, and what the shop learns. */
export function CancelDialog({
  merchant,
  cancel,
  onDone,
  onClose,
}: {
  merchant: string;
  cancel: () => Promise<CheckoutView>;
  onDone: (view: CheckoutView) => void;
  onClose: () => void;
}) {
  const { t } = useWords();
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState(false);
  const onCancel = () => {
    setBusy(true);
    setFailed(false);
    cancel().then(onDone, () => {
      setBusy(false);
      setFailed(true);
    });
  };
  return (
    <Dialog title={t("cancel.title")} text={t("cancel.text", { merchant })} onClose={onClose}>
      <div role="alert">{failed && <Notice tone="warn">{t("cancel.failed")}</Notice>}</div>
      <Button onClick={onClose}>{t("action.keep")}</Button>
      <Button kind="secondary" busy={busy} onClick={onCancel}>
        {t("action.cancel")}
      </Button>
    </Dialog>
  );
}
