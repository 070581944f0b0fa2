"use client";
import { Wallet } from "lucide-react";
import { useState } from "react";
import type { WalletInfo } from "#components/wallet/kit.ts";

/** The wallet's own mark, or one of ours where it has none that can be drawn; decoration, since its name stands beside it. */
export function WalletMark({
  wallet,
  className = "size-9",
}: {
  wallet: WalletInfo;
  className?: string;
}) {
  const [broken, setBroken] = useState<string | null>(null);
  if (wallet.iconUrl === null || wallet.iconUrl === broken)
    return (
      <span
        aria-hidden="true"
        className={`grid shrink-0 place-items-center rounded-lg bg-soft text-quiet ${className}`}
      >
        <Wallet className="size-1/2" />
      </span>
    );
  return (
    // biome-ignore lint/performance/noImgElement: a data address the wallet gave
    <img
      src={wallet.iconUrl}
      onError={() => setBroken(wallet.iconUrl)}
      alt=""
      className={`shrink-0 rounded-lg ${className}`}
      width={36}
      height={36}
    />
  );
}
