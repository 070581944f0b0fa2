import { fileURLToPath } from "node:url";
import { defineConfig } from "prisma/config";

// Set to a real engine's path to use that one instead.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= fileURLToPath(
  new URL("./prisma/schema-engine.mjs", import.meta.url),
);

const { DATABASE_URL } = process.env;

export default defineConfig({
  schema: "prisma/schema",
  migrations: { path: "prisma/migrations" },
  // Without one there is nothing to migrate; generating needs none.
  ...(DATABASE_URL ? { datasource: { url: DATABASE_URL } } : {}),
});
