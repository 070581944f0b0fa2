import { type Container, container } from "#server/container.ts";

type Report = { status: number; body: Record<string, unknown> };

/** A database that does not answer within this is not ready. */
const PROBE_MS = 2_000;

const answer = ({ status, body }: Report): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { "Content-Type": "application/json", "Cache-Control": "no-store" },
  });

/** GET /healthz: 200 while the process answers at all. */
export const healthz = async (): Promise<Response> => answer({ status: 200, body: { ok: true } });

async function databaseAnswers(parts: Container): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), PROBE_MS);
  });
  const probe = parts.db.query("select 1").then(
    () => true,
    (error) => {
      parts.log.warn({ err: error }, "not ready: the database does not answer");
      return false;
    },
  );
  try {
    return await Promise.race([probe, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * GET /readyz: 200 when payments can be served: start-up (which checks migrations and guards, and starts the worker
 * unless told not to) is over, no stop is under way, and the database answers now.
 */
export async function readyz(): Promise<Response> {
  const parts = container();
  const { phase } = parts.state;
  if (phase !== "serving") return answer({ status: 503, body: { ok: false, phase } });
  const database = await databaseAnswers(parts);
  return answer({
    status: database ? 200 : 503,
    body: { ok: database, phase, database, worker: parts.env.FLORIN_WORKER },
  });
}
