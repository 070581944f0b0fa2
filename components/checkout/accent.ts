type Rgb = readonly [number, number, number];

const HEX = /^#?([0-9a-f]{6})$/i;
/**
 * `least`: the contrast of a colour with both grounds. 4.5 is what WCAG 2.2 AA asks for text in the smallest size; on dark ground a
 * button of no more than that looks switched off.
 */
const SCHEMES = {
  light: { card: [255, 255, 255], paper: [248, 246, 242], towards: 0, least: 4.5 },
  dark: { card: [29, 28, 25], paper: [20, 19, 17], towards: 255, least: 7 },
} as const;

function parse(hex: string): Rgb | null {
  const digits = HEX.exec(hex.trim())?.[1];
  if (digits === undefined) return null;
  const at = (from: number) => Number.parseInt(digits.slice(from, from + 2), 16);
  return [at(0), at(2), at(4)];
}

const linear = (channel: number): number => {
  const part = channel / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
};
const luminance = ([r, g, b]: Rgb): number =>
  0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);

/** WCAG contrast of two colours, 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].toSorted((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

const mix = (from: Rgb, towards: number, part: number): Rgb => [
  Math.round(from[0] + (towards - from[0]) * part),
  Math.round(from[1] + (towards - from[1]) * part),
  Math.round(from[2] + (towards - from[2]) * part),
];
const hexOf = (rgb: Rgb): string =>
  `#${rgb.map((one) => one.toString(16).padStart(2, "0")).join("")}`;

/** The nearest colour that can be read on both grounds of a scheme. */
function readable(colour: Rgb, scheme: keyof typeof SCHEMES): Rgb {
  const { card, paper, towards, least } = SCHEMES[scheme];
  for (let step = 0; step <= 20; step++) {
    const tried = mix(colour, towards, step / 20);
    if (contrast(tried, card) >= least && contrast(tried, paper) >= least) return tried;
  }
  return [towards, towards, towards];
}

/** A merchant's colour in one scheme: as a ground with what is written on it, and as text. */
export function accentIn(hex: string, scheme: keyof typeof SCHEMES) {
  const colour = parse(hex);
  if (colour === null) return null;
  const ground = readable(colour, scheme);
  const [black, white] = [[20, 19, 17] as const, [255, 255, 255] as const];
  const ink = contrast(ground, white) >= contrast(ground, black) ? white : black;
  return { ground, ink };
}

/** The style sheet that gives the page a merchant's colour; null: it has none, or it is not a colour. */
export function accentCss(hex: string | null): string | null {
  if (hex === null) return null;
  const [light, dark] = [accentIn(hex, "light"), accentIn(hex, "dark")];
  if (light === null || dark === null) return null;
  const rule = ({ ground, ink }: { ground: Rgb; ink: Rgb }) =>
    `:root{--accent:${hexOf(ground)};--accent-ink:${hexOf(ink)};--accent-text:${hexOf(ground)}}`;
  return `${rule(light)}@media screen and (prefers-color-scheme:dark){${rule(dark)}}`;
}
