const SECURITY = [
  { key: "X-Content-Type-Options", value: "nosniff" },
  { key: "Referrer-Policy", value: "no-referrer" },
  { key: "X-Frame-Options", value: "DENY" },
  {
    key: "Content-Security-Policy",
    value: "frame-ancestors 'none'; base-uri 'none'; object-src 'none'",
  },
  { key: "Permissions-Policy", value: "camera=(), geolocation=(), microphone=()" },
];

/** @type {import("next").NextConfig} */
export default {
  poweredByHeader: false,
  // Type errors and lint are `npm test`'s; a build for a first start does not repeat them.
  typescript: { ignoreBuildErrors: true },
  turbopack: { root: import.meta.dirname },
  serverExternalPackages: ["@prisma/adapter-pg", "@prisma/client", "pg", "pg-boss", "pino"],
  headers: async () => [{ source: "/:path*", headers: SECURITY }],
};
