/** The bytes of a base64 text; throws on anything else. */
export const bytesOfBase64 = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text), (one) => one.charCodeAt(0));

/** Bytes as base64; for the few kilobytes of a transaction. */
export const base64Of = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (one) => String.fromCharCode(one)).join(""));
