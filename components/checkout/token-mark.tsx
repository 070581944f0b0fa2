const TOKENS: Record<string, string> = {
  USDC: "usdc",
  USDT: "usdt",
  ETH: "eth",
  SOL: "sol",
  EURC: "eurc",
  BNB: "bnb",
  POL: "pol",
};

/** The mark of a token: the registry's, else one of ours by symbol, else its first letter. Decoration: the symbol stands beside it. */
export function TokenMark({
  symbol,
  iconUrl,
  className = "size-9",
}: {
  symbol: string;
  iconUrl: string | null;
  className?: string;
}) {
  const ours = TOKENS[symbol.toUpperCase()];
  const src = iconUrl ?? (ours === undefined ? null : `/icons/${ours}.svg`);
  if (src === null)
    return (
      <span
        aria-hidden="true"
        className={`grid shrink-0 place-items-center rounded-full bg-soft font-semibold text-quiet text-sm ${className}`}
      >
        {symbol.slice(0, 1)}
      </span>
    );
  return (
    // biome-ignore lint/performance/noImgElement: small, and from the shop's own address
    <img src={src} alt="" className={`shrink-0 rounded-full ${className}`} width={36} height={36} />
  );
}
