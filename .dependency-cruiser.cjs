const TESTS = "\\.test\\.tsx?$|^server/testing/|^e2e/";
const OURS = "^(app|components|server|prisma|e2e)/|^[^/]+\\.[cm]?[jt]sx?$";
const npm = (names) => `(^|/)node_modules/(${names})/`;
/** Inner layer: itself and `to`; any other file, package or Node module is an error. */
const only = (name, from, to, comment, { node = false } = {}) => ({
  name: `${name}-imports-only`,
  comment,
  severity: "error",
  from: { path: from, pathNot: TESTS },
  to: { pathNot: [from, ...to], ...(node ? { dependencyTypesNot: ["core"] } : {}) },
});
/** Outer layer: of our own folders only itself and `to`; packages are free here, `confine` gives the few that matter one home. */
const outer = (name, from, to, comment) => ({
  name: `${name}-imports-only`,
  comment,
  severity: "error",
  from: { path: from, pathNot: TESTS },
  to: { path: OURS, pathNot: [from, ...to] },
});
/** A vendor package is imported in its homes and nowhere else. */
const confine = (name, vendor, homes) => ({
  name: `${name}-stays-in`,
  comment: homes.join(", "),
  severity: "error",
  from: { pathNot: [...homes.map((home) => `^${home}`), TESTS] },
  to: { path: npm(vendor) },
});
const INNER = "^server/(domain|ports|platform)/";
const PURE = npm("@noble|@scure");
module.exports = {
  forbidden: [
    only("domain", "^server/domain/", [PURE], "Rules are pure."),
    only("contract", "^server/contract/", ["^server/domain/", npm("zod"), PURE], "The wire."),
    only(
      "ports",
      "^server/ports/",
      ["^server/domain/", "^server/platform/(env|log)"],
      "A port speaks the domain's words.",
    ),
    only("usecases", "^server/usecases/", [INNER], "No framework, vendor or table.", {
      node: true,
    }),
    only(
      "client",
      "^server/client/",
      ["^server/(domain|contract)/", npm("zod")],
      "Publishable, browser-safe.",
    ),
    outer(
      "platform",
      "^server/platform/",
      ["^server/domain/", "^server/ports/clock"],
      "Env, clock, ids, log, AppError.",
    ),
    outer("chains", "^server/chains/", [INNER], "Chains implement ports."),
    outer("db", "^server/db/", [INNER], "Prisma and the queue stay behind ports."),
    outer("adapters", "^server/adapters/", [INNER], "Everything else outside."),
    outer(
      "jobs",
      "^server/jobs/",
      [INNER, "^server/usecases/", "^server/db/store"],
      "A job calls a use case.",
    ),
    outer("http", "^server/http/", [INNER, "^server/contract/", "^server/container"], "REST edge."),
    outer(
      "trpc",
      "^server/trpc/",
      [INNER, "^server/(contract|usecases|auth|http)/", "^server/container"],
      "Dashboard edge.",
    ),
    outer(
      "components",
      "^components/",
      ["^server/(domain|contract|client)/", "^server/trpc/client"],
      "Nothing that can hold a secret.",
    ),
    outer(
      "rest",
      "^app/v1/",
      ["^server/(contract|domain|http|usecases)/"],
      "A contract, a use case and a projection.",
    ),
    outer(
      "pages",
      "^app/(?!v1/)",
      ["^components/", "^server/(contract|domain|http|trpc|auth)/"],
      "A page composes components over tRPC.",
    ),
    outer(
      "door",
      "^server/door/",
      [INNER, "^app/v1/", "^server/(http|trpc|contract|container|jobs)"],
      "Process entries.",
    ),
    confine("viem", "viem", [
      "server/chains/evm/",
      "server/(sandbox|cli|bench)/",
      "components/wallet/",
    ]),
    confine("solana", "@solana[^/]*", [
      "server/chains/solana/",
      "server/(sandbox|cli|bench)/",
      "components/wallet/",
    ]),
    confine("prisma", "@prisma|\\.prisma", ["server/db/", "server/auth/", "prisma/"]),
    confine("next", "next", [
      "app/",
      "components/",
      "server/(auth|door|trpc)/",
      "next\\.config",
      "proxy\\.ts",
      "instrumentation\\.ts",
    ]),
    confine("pg-boss", "pg-boss", ["server/db/", "server/jobs/"]),
    confine("better-auth", "better-auth|@better-auth", ["server/auth/", "components/dashboard/"]),
    {
      name: "container-is-for-edges",
      severity: "error",
      from: {
        pathNot: ["^server/(http|trpc|door|cli|bench|sandbox|auth)/", TESTS, "^instrumentation"],
      },
      to: { path: "^server/container" },
    },
    {
      name: "one-chain-family-per-folder",
      severity: "error",
      from: { path: "^server/chains/([^/]+)/", pathNot: TESTS },
      to: { path: "^server/chains/[^/]+/", pathNot: "^server/chains/$1/" },
    },
    {
      name: "testing-is-for-tests",
      severity: "error",
      from: { pathNot: [TESTS, "^prisma/seed"] },
      to: { path: "^server/testing/" },
    },
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    { name: "resolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: ["node_modules", "^server/db/generated/"] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default", "types"],
    },
  },
};
