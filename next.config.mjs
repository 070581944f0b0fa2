const PID = "pay_[0-9A-Za-z]{1,60}";

/** What the front door sets with a nonce for each answer; where it is not in the way (`next start`), this holds. */
const SECURITY = [
  { key: "X-Content-Type-Options", value: "nosniff" },
  { key: "Referrer-Policy", value: "no-referrer" },
  { key: "X-Frame-Options", value: "DENY" },
  {
    key: "Content-Security-Policy",
    value: "frame-ancestors 'none'; base-uri 'none'; object-src 'none'; form-action 'self'",
  },
  { key: "Permissions-Policy", value: "camera=(), geolocation=(), microphone=()" },
];

/** Older addresses of a payment's page; a `pid` that cannot be one leads to the page of unknown links. */
const older = (source) => [
  {
    source,
    has: [{ type: "query", key: "pid", value: `(?<pid>${PID})` }],
    destination: "/:pid",
  },
  { source, has: [{ type: "query", key: "pid" }], destination: "/pay_unknown" },
];

/** @type {import("next").NextConfig} */
export default {
  poweredByHeader: false,
  // Type errors and lint are `npm test`'s; a build for a first start does not repeat them.
  typescript: { ignoreBuildErrors: true },
  turbopack: {
    root: import.meta.dirname,
    // Messages are compiled on the server; without this, the browser gets a parser for them.
    resolveAlias: { "use-intl/format-message": "use-intl/format-message/format-only" },
  },
  serverExternalPackages: ["@prisma/adapter-pg", "@prisma/client", "pg", "pg-boss", "pino"],
  headers: async () => [
    {
      source: "/:path*",
      missing: [{ type: "header", key: "content-security-policy" }],
      headers: SECURITY,
    },
  ],
  rewrites: async () => ({ beforeFiles: [...older("/"), ...older("/buy")] }),
};
