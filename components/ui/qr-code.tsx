import { encode } from "uqr";

/** One path for all dark modules: row by row, runs joined. */
function pathOf(rows: readonly (readonly boolean[])[]): string {
  let path = "";
  for (const [y, row] of rows.entries())
    for (let x = 0; x < row.length; x++) {
      if (row[x] !== true) continue;
      let end = x + 1;
      while (row[end] === true) end++;
      path += `M${x} ${y}h${end - x}v1h${x - end}z`;
      x = end;
    }
  return path;
}

/** Always dark on white, in both colour schemes, since not every camera reads the reverse. Draw it on the server. */
export function QrCode({
  text,
  label,
  className,
}: {
  text: string;
  label: string;
  className?: string;
}) {
  const { data, size } = encode(text, { ecc: "M", border: 0 });
  return (
    <svg
      viewBox={`-3 -3 ${size + 6} ${size + 6}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
      className={`rounded-control bg-white ${className ?? ""}`}
    >
      <rect x="-3" y="-3" width={size + 6} height={size + 6} fill="#ffffff" />
      <path d={pathOf(data)} fill="#14161a" />
    </svg>
  );
}
