import { ChevronRight, Smartphone } from "lucide-react";
import { Notice } from "#components/ui/notice.tsx";
import type { WalletInfo } from "#components/wallet/kit.ts";
import { WALLET_BROWSERS } from "./links.ts";
import type { ScreenProps } from "./screen-props.ts";
import { WalletMark } from "./wallet-mark.tsx";

const ROW =
  "flex min-h-15 w-full cursor-pointer items-center gap-3.5 rounded-control border border-edge bg-card px-4 py-2.5 text-start hover:border-ink hover:bg-soft";

function WalletRow({
  wallet,
  hint,
  isMain,
  onChoose,
}: {
  wallet: WalletInfo;
  hint: string | null;
  isMain: boolean;
  onChoose: () => void;
}) {
  return (
    <li>
      <button type="button" onClick={onChoose} data-main={isMain || undefined} className={ROW}>
        <WalletMark wallet={wallet} />
        <span className="grid min-w-0 flex-1">
          <span className="wrap-anywhere font-medium">{wallet.name}</span>
          {hint !== null && <span className="text-quiet text-sm">{hint}</span>}
        </span>
        <ChevronRight aria-hidden="true" className="size-5 shrink-0 text-quiet rtl:-scale-x-100" />
      </button>
    </li>
  );
}

const Placeholder = ({ text }: { text: string }) => (
  <div className="flex min-h-15 items-center gap-3.5 rounded-control border border-line border-dashed px-4 py-2.5 text-quiet text-sm noscript:hidden">
    <span className="size-9 shrink-0 rounded-lg bg-soft motion-safe:animate-pulse" />
    {text}
  </div>
);

/** Wallets that bring their own browser: for phones on which this page runs outside of one. */
function WalletBrowsers({ words: { t }, link }: Pick<ScreenProps, "words" | "link">) {
  return (
    <ul className="hidden grid-cols-1 gap-2 pointer-coarse:grid">
      {WALLET_BROWSERS.map(({ name, href }) => (
        <li key={name}>
          <a href={href(link)} rel="noreferrer" className={ROW}>
            <span
              aria-hidden="true"
              className="grid size-9 shrink-0 place-items-center rounded-lg bg-soft text-quiet"
            >
              <Smartphone className="size-4.5" />
            </span>
            <span className="wrap-anywhere min-w-0 flex-1 font-medium">
              {t("wallets.open", { wallet: name })}
            </span>
            <ChevronRight
              aria-hidden="true"
              className="size-5 shrink-0 text-quiet rtl:-scale-x-100"
            />
          </a>
        </li>
      ))}
    </ul>
  );
}

/** The wallets of this browser, the one used last first; where there are none, the ways to get to one. */
export function ChooseWallet({ words, wallets, lastWallet, link, act }: ScreenProps) {
  const { t } = words;
  const hintOf = ({ id, source }: WalletInfo) => {
    if (id === lastWallet) return t("wallets.last");
    return source === "sandbox" ? t("wallets.test") : null;
  };
  const ordered = (wallets ?? []).toSorted(
    (a, b) => Number(b.id === lastWallet) - Number(a.id === lastWallet),
  );
  const foreign = ordered.some(({ source }) => source !== "sandbox");
  return (
    <>
      {wallets === null && <Placeholder text={t("wallets.looking")} />}
      {wallets !== null && wallets.length === 0 && (
        <Notice>
          <strong className="block font-medium">{t("wallets.none")}</strong>
          {t("wallets.noneHelp")}
        </Notice>
      )}
      {ordered.length > 0 && (
        <ul aria-label={t("wallets.list")} className="grid grid-cols-1 gap-2">
          {ordered.map((wallet, index) => (
            <WalletRow
              key={wallet.id}
              wallet={wallet}
              hint={hintOf(wallet)}
              isMain={index === 0}
              onChoose={() => act({ do: "connect", wallet })}
            />
          ))}
        </ul>
      )}
      {!foreign && <WalletBrowsers words={words} link={link} />}
    </>
  );
}
