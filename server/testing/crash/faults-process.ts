import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect } from "vitest";
import { MAX_POLL_MS } from "#server/domain/payment/polling.ts";
import { startPostgres } from "#server/sandbox/postgres.ts";
import { becomes, beginPlay, recover, sent, waitsAt } from "./finish.ts";
import { release, type Stage } from "./stage.ts";

const listeners = async (stage: Stage): Promise<string | undefined> =>
  (
    await stage.rows<{ n: string }>(
      `select count(*) as n from pg_stat_activity where application_name = 'florin-listen' and datname = current_database()`,
    )
  )[0]?.n;

/** The connection that hears notifications is gone and does not come back while a status is held and changes. */
export async function notificationLost(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const server = await stage.start();
  await play.journey.create(server.baseUrl);
  await play.journey.options(server.baseUrl);
  await play.journey.sign();
  stage.database.keepOut("florin-listen");
  await stage.wait(
    () => listeners(stage),
    (n) => n === "0",
    "nobody listens",
  );
  let answeredAt = 0;
  const askedAt = performance.now();
  const held = stage
    .api(server.baseUrl)
    .status(play.journey.id(), MAX_POLL_MS)
    .finally(() => {
      answeredAt = performance.now();
    });
  await stage.looked();
  expect(answeredAt).toBe(0);
  await play.journey.confirm(server.baseUrl);
  expect((await held).body.status).toBe("processing");
  expect(await listeners(stage)).toBe("0");
  // One that sees no change is answered after the whole time, and not before.
  expect(answeredAt - askedAt).toBeLessThan(MAX_POLL_MS);
  stage.database.keepOut(null);
  await play.expectOneOfEverything();
}

/** A process that starts PostgreSQL on a folder, says which process that is, and then only waits. */
async function starterOn(dir: string): Promise<{ child: ChildProcess; pid: number }> {
  const module = new URL("../../sandbox/postgres.ts", import.meta.url).href;
  const script = `
    import { startPostgres } from ${JSON.stringify(module)};
    const { pid } = await startPostgres({ dir: ${JSON.stringify(dir)} });
    process.stdout.write(pid + "\\n");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout as NonNullable<typeof child.stdout>, "data")) as [Buffer];
  return { child, pid: Number(line.toString()) };
}

/** PostgreSQL is killed during a payment; who starts it again is killed at once; the next start takes the orphan over. */
export async function orphanedPostgres(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const dir = join(stage.test.world.dir, "postgres");
  const server = await stage.start();
  await play.journey.advance(server.baseUrl);
  await sent(stage, play);
  const running = await startPostgres({ dir });
  process.kill(running.pid, "SIGKILL");
  const { child, pid } = await starterOn(dir);
  expect(pid).not.toBe(running.pid);
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
  const adopted = await startPostgres({ dir });
  expect([adopted.pid, adopted.port]).toEqual([pid, running.port]);
  stage.beforeStop(() => adopted.stop());
  await server.kill();
  await recover(stage, play);
}

/** A migration that began and did not end, and a guard that somebody dropped: neither database is served. */
export async function halfMigration(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const first = await stage.start();
  await play.journey.advance(first.baseUrl);
  await sent(stage, play);
  await first.kill();
  const name = "20991231000000_half";
  await stage.rows(
    `insert into _prisma_migrations (id, checksum, migration_name, started_at, applied_steps_count)
     values ('half', '', $1, now(), 0)`,
    [name],
  );
  await expect(stage.start()).rejects.toThrow(
    new RegExp(`The database is not usable:\\n +- migration ${name} was applied by half`),
  );
  await stage.rows(`delete from _prisma_migrations where id = 'half'`);
  await stage.rows(`alter table payment disable trigger payment_guard`);
  await expect(stage.start()).rejects.toThrow(/guard payment_guard is missing/);
  await stage.rows(`alter table payment enable trigger payment_guard`);
  await recover(stage, play);
}

/** How many servers have a session for leases, and how many leases are held. */
async function leases(stage: Stage): Promise<{ sessions: number; held: number }> {
  const [row] = await stage.rows<{ sessions: string; held: string }>(
    `select count(distinct a.pid) as sessions, count(l.pid) as held from pg_stat_activity a
     left join pg_locks l on l.pid = a.pid and l.locktype = 'advisory' and l.granted
     where a.application_name = 'florin-lease' and a.datname = current_database()`,
  );
  return { sessions: Number(row?.sessions), held: Number(row?.held) };
}

/** Two chains and the sweep for expired payments have a lease each, at least. */
const LEASES = 3;

/** Two whole servers on one database: both answer, one works, and the other goes on with it when that one dies. */
export async function twoServers(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const first = await stage.start();
  await stage.wait(
    () => leases(stage),
    (seen) => seen.held >= LEASES && seen.sessions === 1,
    "the first server holds every lease",
  );
  const second = await stage.start();
  await stage.wait(
    () => leases(stage),
    (seen) => seen.sessions === 2,
    "the second server asks for every lease",
  );
  await play.journey.create(second.baseUrl);
  await play.journey.options(first.baseUrl);
  await play.journey.confirm(second.baseUrl);
  await sent(stage, play);
  expect((await leases(stage)).sessions).toBe(2);
  await first.kill();
  await play.expectOneOfEverything();
  await stage.wait(
    () => leases(stage),
    (seen) => seen.sessions === 1 && seen.held >= LEASES,
    "the second server holds every lease",
  );
  const { body } = await stage.api(second.baseUrl).status(play.journey.id());
  expect(body.status).toBe("succeeded");
}

/** One of PostgreSQL's processes is killed in the middle of a confirm's transaction; all others end with it. */
export async function databaseProcessKilled(stage: Stage): Promise<void> {
  const play = await beginPlay(stage);
  const point = "confirm.before_commit";
  const server = await stage.start({ armed: `${point}:hang` });
  await play.journey.create(server.baseUrl);
  await play.journey.options(server.baseUrl);
  const outputs = await play.journey.sign();
  const confirm = () =>
    stage.api(server.baseUrl).confirm(play.journey.id(), play.journey.option()?.id ?? "", outputs);
  const confirming = confirm();
  await waitsAt(stage, server, point);
  const [busy] = await stage.rows<{ pid: number }>(
    `select pid from pg_stat_activity where application_name = 'florin' and state = 'idle in transaction'
     and datname = current_database()`,
  );
  if (busy === undefined) throw new Error("no transaction is open");
  process.kill(busy.pid, "SIGKILL");
  release(server);
  // Who is told that the service is away says the same again, as every wallet does.
  const first = await confirming;
  expect([200, 503], first.text).toContain(first.status);
  const answer = await stage.wait(confirm, ({ status }) => status !== 503, "a confirm is answered");
  expect(answer.body.status).toBe("processing");
  await becomes(stage, play, "processing");
  await play.expectOneOfEverything();
}
