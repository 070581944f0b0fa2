#!/usr/bin/env node
// Stands in for Prisma's native schema engine, which would have to be downloaded: the same JSON-RPC over standard
// input and output, answered by the WebAssembly build of the same engine from npm.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { PrismaPg } from "@prisma/adapter-pg";
import { bindMigrationAwareSqlAdapterFactory } from "@prisma/driver-adapter-utils";
import pg from "pg";

const require = createRequire(import.meta.url);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  strict: false,
  options: { datamodels: { type: "string", multiple: true }, datasource: { type: "string" } },
});
const datasource = JSON.parse(values.datasource ?? "{}");
const url = new URL(datasource.url ?? process.env.DATABASE_URL);

// The adapter has no mapping for the catalogue type "char" (oid 18) that introspection reads: present it as text (25).
const Result = createRequire(require.resolve("@prisma/adapter-pg"))("pg/lib/result.js");
const addFields = Result.prototype.addFields;
Result.prototype.addFields = function (fields) {
  for (const field of fields) if (field.dataTypeID === 18) field.dataTypeID = 25;
  return addFields.call(this, fields);
};

// Separate members and no connection string: a connection string would win over the shadow database's name, and
// migrations meant for the shadow database would run on the real one.
function connection() {
  const sslmode = url.searchParams.get("sslmode") ?? "";
  return {
    host: url.searchParams.get("host") ?? url.hostname,
    port: Number(url.port || 5432),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
    ssl: ["require", "verify-ca", "verify-full"].includes(sslmode)
      ? { rejectUnauthorized: sslmode !== "require" }
      : undefined,
  };
}

// The adapter cuts scripts at every semicolon, also inside function bodies. Sent whole, a script is also one transaction.
function wholeScripts(adapter) {
  adapter.executeScript = async (script) => {
    await adapter.client.query(script);
  };
  return adapter;
}

class MigrationFactory extends PrismaPg {
  async connect() {
    return wholeScripts(await super.connect());
  }

  // The adapter drops the shadow database while its own pool is still connected to it, which PostgreSQL refuses.
  async connectToShadowDb() {
    const database = `prisma_migrate_shadow_db_${crypto.randomUUID()}`;
    const admin = await new PrismaPg(connection()).connect();
    await admin.executeScript(`CREATE DATABASE "${database}"`);
    const shadow = wholeScripts(await new PrismaPg({ ...connection(), database }).connect());
    const dispose = shadow.dispose.bind(shadow);
    shadow.dispose = async () => {
      await dispose();
      await admin.executeScript(`DROP DATABASE IF EXISTS "${database}" WITH (FORCE)`);
      await admin.dispose();
    };
    return shadow;
  }
}

async function ensureDatabase(create) {
  const client = new pg.Client(connection());
  try {
    await client.connect();
    await client.end();
    return;
  } catch (error) {
    if (error.code !== "3D000") throw Object.assign(error, { prisma: "P1001" });
    if (!create) throw Object.assign(error, { prisma: "P1003" });
  }
  const admin = new pg.Client({ ...connection(), database: "postgres" });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${pg.escapeIdentifier(connection().database)}`);
  await admin.end();
}

if (positionals[0] === "cli") {
  try {
    await ensureDatabase(positionals[1] === "create-database");
    process.exit(0);
  } catch (error) {
    const fields = {
      is_panic: false,
      error_code: error.prisma ?? "P1001",
      message: error.message || String(error),
    };
    process.stderr.write(
      `\n${JSON.stringify({ level: "ERROR", target: "schema_engine::logger", fields })}\n`,
    );
    process.exit(1);
  }
}

async function loadEngine() {
  const path = require.resolve("@prisma/schema-engine-wasm/schema_engine_bg");
  const bindings = await import("@prisma/schema-engine-wasm/schema_engine_bg");
  const { instance } = await WebAssembly.instantiate(readFileSync(path.replace(/\.js$/, ".wasm")), {
    "./schema_engine_bg.js": bindings,
  });
  bindings.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  const datamodels = (values.datamodels ?? []).map((file) => [file, readFileSync(file, "utf8")]);
  const factory = bindMigrationAwareSqlAdapterFactory(new MigrationFactory(connection()));
  return bindings.SchemaEngine.new(
    { datamodels: datamodels.length > 0 ? datamodels : undefined },
    () => {},
    factory,
  );
}

const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const METHODS = { getDatabaseVersion: "version" };
let engine;

async function call(method, params) {
  if (method === "createDatabase") {
    await ensureDatabase(true);
    return { databaseName: connection().database };
  }
  engine ??= await loadEngine();
  const result = (await engine[METHODS[method] ?? method](params)) ?? {};
  if (method !== "diff" || typeof result.stdout !== "string") return result;
  send({ id: 1e9, method: "print", params: { content: result.stdout } });
  return { exitCode: result.exitCode };
}

for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() === "") continue;
  const { id, method, params } = JSON.parse(line);
  if (method === undefined) continue;
  try {
    send({ id, result: await call(method, params) });
  } catch (error) {
    const data = {
      is_panic: false,
      message: error.message ?? String(error),
      meta: null,
      error_code: error.code,
    };
    send({
      id,
      error: { code: 4466, message: "An error happened. Check the data field for details.", data },
    });
  }
}
process.exit(0);
