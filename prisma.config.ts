import { fileURLToPath } from "node:url";
import { defineConfig } from "prisma/config";

// Set to a real engine's path to use that one instead.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= fileURLToPath(
  new URL("./prisma/schema-engine.mjs", import.meta.url),
);

export default defineConfig({
  schema: "prisma/schema",
  migrations: { path: "prisma/migrations" },
  datasource: { url: process.env.DATABASE_URL ?? "postgresql://florin@127.0.0.1:5432/florin" },
});
