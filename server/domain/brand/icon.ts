/** What a merchant's icon may be: pictures that can run nothing. */
export const ICON_TYPES = ["image/png", "image/webp", "image/jpeg"] as const;
export type IconType = (typeof ICON_TYPES)[number];

/** Largest icon in bytes. */
export const MAX_ICON_BYTES = 64 * 1024;

const startsWith = (bytes: Uint8Array, start: readonly number[], at = 0): boolean =>
  start.every((byte, index) => bytes[at + index] === byte);

const ascii = (text: string): number[] => [...text].map((letter) => letter.charCodeAt(0));
const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const JPEG = [0xff, 0xd8, 0xff];

/** The type by the bytes themselves, whatever the file is called; null: none that is served. */
export function iconType(bytes: Uint8Array): IconType | null {
  if (startsWith(bytes, PNG) && startsWith(bytes, ascii("IHDR"), 12)) return "image/png";
  if (startsWith(bytes, ascii("RIFF")) && startsWith(bytes, ascii("WEBP"), 8)) return "image/webp";
  if (startsWith(bytes, JPEG)) return "image/jpeg";
  return null;
}

/** An icon that may be served, or why it may not, in words for whoever gave it. */
export function checkIcon(
  bytes: Uint8Array,
): { kind: "icon"; type: IconType } | { kind: "refused"; reason: string } {
  if (bytes.length > MAX_ICON_BYTES)
    return { kind: "refused", reason: `the icon has ${bytes.length} bytes, and may have 65536` };
  const type = iconType(bytes);
  return type === null
    ? { kind: "refused", reason: "the icon must be PNG, WebP or JPEG (SVG can run scripts)" }
    : { kind: "icon", type };
}

const DATA_URI = /^data:[^,;]*;base64,([A-Za-z0-9+/]+={0,2})$/;

/** The base64 of a data URI; null: it is none. */
export const dataUriBase64 = (value: string): string | null => DATA_URI.exec(value)?.[1] ?? null;
