import { isIP } from "node:net";

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
/** `1.2.3.4:567` and `[2001:db8::1]:567`, as some proxies write them. */
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/;

/** The first 64 bits of an IPv6 address, which one customer has all of. */
function networkOf(address: string): string {
  const [head = "", tail] = (address.split("%")[0] ?? "").split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  // An address that ends in dotted form has one group fewer than it stands for.
  const groups = before.length + after.length + (address.includes(".") ? 1 : 0);
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - groups)).fill("0");
  const all = [...before, ...zeros, ...after].slice(0, 4);
  return `${all.map((group) => group.toLowerCase().replace(/^0+(?=.)/, "")).join(":")}::/64`;
}

/** What calls are counted under: an IPv4 address, or the network of an IPv6 one; null: it is neither. */
export function countedAddress(address: string): string | null {
  if (!address.includes(":")) return isIP(address) === 4 ? address : null;
  const mapped = MAPPED.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  return isIP(address) === 6 ? networkOf(address) : null;
}

/**
 * Who calls, as far as it can be believed: each of `trusted` proxies added the address it was called from to
 * X-Forwarded-For, so what stands before those was made up by the caller. Null: nothing is known.
 */
export function clientAddress(
  socket: string | undefined,
  forwarded: string | null,
  trusted: number,
): string | null {
  const own = socket === undefined ? null : countedAddress(socket);
  if (trusted === 0 || forwarded === null) return own;
  const named = forwarded.split(",").map((one) => one.trim());
  // Fewer than that: it came past one of them, and all of it may be made up.
  const claimed = named[named.length - trusted] ?? "";
  const bare = WITH_PORT.exec(claimed);
  return countedAddress(bare?.[1] ?? bare?.[2] ?? claimed) ?? own;
}
