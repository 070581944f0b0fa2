/** What a receiver's address must be: `open` allows plain HTTP and this machine, as the local world needs. */
export type ReceiverRule = "open" | "public";

const PORTS = ["", "443", "8443"];
/** Names that mean something inside a network only. */
const INTERNAL = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|arpa|onion|invalid|test)$/;
const IP = /^(\[.*\]|\d+\.\d+\.\d+\.\d+)$/;

function publicProblem({ protocol, port, hostname }: URL): string | null {
  if (protocol !== "https:") return "must start with https://";
  if (!PORTS.includes(port)) return "must use port 443 or 8443";
  const name = hostname.replace(/\.$/, "");
  if (IP.test(name)) return "must name a host, not an IP address";
  if (!name.includes(".") || INTERNAL.test(name)) return "must name a public host";
  return null;
}

/** Why events cannot be sent to a URL; null: they can. What its name resolves to is checked at every attempt. */
export function receiverProblem(value: string, rule: ReceiverRule): string | null {
  const url = URL.parse(value);
  if (url === null || value.trim() !== value) return "must be a URL";
  if (url.protocol !== "https:" && url.protocol !== "http:") return "must start with https://";
  if (url.username !== "" || url.password !== "") return "must not carry a user name or password";
  if (url.hash !== "") return "must not have a fragment";
  return rule === "public" ? publicProblem(url) : null;
}
