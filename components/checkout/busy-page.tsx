import { CloudOff } from "lucide-react";
import { ButtonLink } from "#components/ui/button.tsx";
import { Panel, Sign } from "./panel.tsx";
import { serverWords } from "./server-words.ts";
import { Alone, type PageRequest, Shell } from "./shell.tsx";

/** The payment cannot be read at the moment; trying again needs no script. */
export function BusyPage({ request }: { request: PageRequest }) {
  const { t } = serverWords(request.language);
  return (
    <Shell request={request} sandbox={false}>
      <Alone>
        <Panel
          sign={<Sign icon={CloudOff} tone="warn" />}
          title={t("state.broken.title")}
          help={t("state.broken.help")}
          main={
            <ButtonLink href={`${request.path}?lang=${request.language}`}>
              {t("action.retry")}
            </ButtonLink>
          }
        />
      </Alone>
    </Shell>
  );
}
