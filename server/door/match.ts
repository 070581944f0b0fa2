import type { RouteHandler } from "#server/http/define-route.ts";

type Methods = Readonly<Record<string, RouteHandler>>;
type Node = {
  literal: Map<string, Node>;
  name: string | null;
  named: Node | null;
  methods: Methods | null;
};

/** What a path leads to: its methods and the percent-decoded values of its `{name}` segments. */
export type Match =
  | { kind: "found"; methods: Methods; params: Record<string, string> }
  | { kind: "unknown" }
  | { kind: "malformed" };

const emptyNode = (): Node => ({ literal: new Map(), name: null, named: null, methods: null });

function insert(root: Node, path: string, methods: Methods): void {
  let node = root;
  for (const segment of path.split("/").slice(1)) {
    if (segment.startsWith("{")) {
      node.name = segment.slice(1, -1);
      node.named ??= emptyNode();
      node = node.named;
    } else {
      const next = node.literal.get(segment) ?? emptyNode();
      node.literal.set(segment, next);
      node = next;
    }
  }
  node.methods = methods;
}

/** The path of a request target without query; leading slashes count as one and a trailing one as none. */
export function pathOf(target: string): string {
  const end = target.indexOf("?");
  let path = end === -1 ? target : target.slice(0, end);
  if (path.startsWith("//")) path = path.replace(/^\/+/, "/");
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

/** A lookup over a route table, segment by segment; a literal segment wins over a named one. */
export function createMatcher(routes: Readonly<Record<string, Methods>>): (path: string) => Match {
  const root = emptyNode();
  for (const [path, methods] of Object.entries(routes)) insert(root, path, methods);
  return (path) => {
    const params: Record<string, string> = {};
    let node: Node | undefined = root;
    for (const segment of path.split("/").slice(1)) {
      const literal: Node | undefined = node.literal.get(segment);
      if (literal !== undefined) node = literal;
      else if (node.named !== null && node.name !== null && segment !== "") {
        const value = decode(segment);
        if (value === null) return { kind: "malformed" };
        params[node.name] = value;
        node = node.named;
      } else return { kind: "unknown" };
    }
    return node.methods === null
      ? { kind: "unknown" }
      : { kind: "found", methods: node.methods, params };
  };
}

/** Percent-decodes a segment or a whole path; null: it cannot be. */
export function decode(segment: string): string | null {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}
