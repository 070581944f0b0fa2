import { ButtonLink } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import type { ScreenProps } from "./screen-props.ts";

/** Ways to find this page again: its link, copied or sent to oneself. */
export function KeepLink({ props: { words, view, link } }: { props: ScreenProps }) {
  const { t, price } = words;
  const values = { merchant: view.merchant.name, price: price(view.amount), link };
  const mail = new URLSearchParams({
    subject: t("mail.subject", values),
    body: t("mail.body", values),
  });
  return (
    <div className="grid gap-1">
      <CopyButton text={link} label={t("action.keepLink")} copied={t("copy.done")} isMain />
      <ButtonLink kind="quiet" href={`mailto:?${mail.toString().replaceAll("+", "%20")}`}>
        {t("action.mailLink")}
      </ButtonLink>
    </div>
  );
}
