import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { z } from "zod";
import { accentIn } from "#components/checkout/accent.ts";
import { text } from "#server/contract/shapes.ts";
import { type BrandChange, type BrandRow, changeBrand } from "#server/db/brands.ts";
import { createDatabase } from "#server/db/client.ts";
import { frameOrigin, MAX_FRAME_ORIGINS } from "#server/domain/brand/frame-origin.ts";
import { checkIcon, dataUriBase64 } from "#server/domain/brand/icon.ts";
import { Misuse, withUsage } from "./command.ts";
import { settingsDatabaseUrl } from "./database-url.ts";

/** Words of `merchant brand`. */
export const BRAND_USAGE = `Changes how a merchant's pages look; what is left out stays as it is.

  npm run merchant -- brand --merchant mer_… [--name "My Shop"] [--accent #rrggbb | --no-accent]
      [--icon logo.png | --icon data:image/png;base64,… | --no-icon]
      [--frame-origin https://shop.example (repeated) | --no-frame-origins] [--allow-loopback]

An icon is PNG, WebP or JPEG of at most 64 kB; it is stored and served by this server. Pages of a frame origin may show the
checkout inside theirs. --allow-loopback also takes http://localhost, for trying things out.
`;

const input = z.object({
  merchant: z.string("--merchant is needed").regex(/^[A-Za-z0-9_-]{1,100}$/),
  name: text(1, 256).optional(),
  accent: z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, "must be a colour such as #1a5fd6")
    .transform((colour) => colour.toLowerCase())
    .optional(),
});

function readIcon(value: string): NonNullable<BrandChange["icon"]> {
  const base64 = dataUriBase64(value);
  if (base64 === null && value.startsWith("data:"))
    throw new Misuse("--icon: the data URI must be base64");
  if (/^https?:/i.test(value))
    throw new Misuse("--icon: save the file first; pages load nothing from other servers");
  const bytes = base64 === null ? readFileSync(value) : Buffer.from(base64, "base64");
  const checked = checkIcon(bytes);
  if (checked.kind === "refused") throw new Misuse(`--icon: ${checked.reason}`);
  return { type: checked.type, bytes };
}

function readOrigins(values: string[], allowLoopback: boolean): string[] {
  if (values.length > MAX_FRAME_ORIGINS)
    throw new Misuse(`--frame-origin: at most ${MAX_FRAME_ORIGINS}`);
  return values.map((value) => {
    const origin = frameOrigin(value, allowLoopback);
    if (origin === null)
      throw new Misuse(
        `--frame-origin: ${value} is not one https host, such as https://shop.example`,
      );
    return origin;
  });
}

const hexOf = (rgb: readonly number[]): string =>
  `#${rgb.map((one) => one.toString(16).padStart(2, "0")).join("")}`;

/** What becomes of a colour where it could not be read as it is, in one line for each scheme. */
function accentLines(accent: string): string[] {
  return (["light", "dark"] as const).flatMap((scheme) => {
    const made = accentIn(accent, scheme);
    if (made === null) return [];
    const [ground, ink] = [hexOf(made.ground), hexOf(made.ink)];
    const how =
      ground === accent
        ? "as it is"
        : `as ${ground}: ${accent} itself has less than 4.5:1 to the page, so it is made ${scheme === "light" ? "darker" : "lighter"}`;
    return [`On ${scheme} pages the colour is shown ${how}, with text in ${ink}.`];
  });
}

function report(row: BrandRow): string {
  const { name, accent, iconType, iconBytes, frameOrigins } = row;
  const icon = iconType === null ? null : { type: iconType, bytes: iconBytes };
  return JSON.stringify({ name, accent, icon, frameOrigins }, null, 2);
}

/** Reads the words of the command; throws with what is wrong with them. */
export function readChange(words: string[]): { merchant: string; change: BrandChange } {
  const { values } = parseArgs({
    args: words,
    options: {
      merchant: { type: "string" },
      name: { type: "string" },
      accent: { type: "string" },
      icon: { type: "string" },
      "frame-origin": { type: "string", multiple: true },
      "no-accent": { type: "boolean" },
      "no-icon": { type: "boolean" },
      "no-frame-origins": { type: "boolean" },
      "allow-loopback": { type: "boolean", default: false },
    },
  });
  const parsed = input.safeParse(values);
  if (!parsed.success)
    throw new Misuse(
      parsed.error.issues.map((i) => `--${i.path.join(".")}: ${i.message}`).join("\n"),
    );
  const { merchant, name, accent } = parsed.data;
  const origins = values["frame-origin"];
  const change: BrandChange = {
    ...(name !== undefined && { name }),
    ...(accent !== undefined && { accent }),
    ...(values["no-accent"] && { accent: null }),
    ...(values.icon !== undefined && { icon: readIcon(values.icon) }),
    ...(values["no-icon"] && { icon: null }),
    ...(origins !== undefined && { frameOrigins: readOrigins(origins, values["allow-loopback"]) }),
    ...(values["no-frame-origins"] && { frameOrigins: [] }),
  };
  return { merchant, change };
}

/** `merchant brand …`: returns the exit code; throws what is wrong with the command, with its usage. */
export async function brand(words: string[]): Promise<number> {
  if (words.length === 0) throw new Misuse(BRAND_USAGE);
  try {
    const { merchant, change } = readChange(words);
    const db = createDatabase(settingsDatabaseUrl(), { max: 1 });
    const row = await changeBrand(db.query, merchant, change).finally(() => db.close());
    if (row === null) throw new Misuse(`There is no merchant ${merchant}.`);
    process.stdout.write(`${report(row)}\n`);
    if (row.accent !== null && change.accent != null)
      process.stdout.write(`${accentLines(row.accent).join("\n")}\n`);
    return 0;
  } catch (error) {
    throw withUsage(error, BRAND_USAGE);
  }
}
