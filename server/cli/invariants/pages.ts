import type { Query } from "#server/db/client.ts";

const PAGE = 1_000;

/** Reads a big table page by page, so that it is never held whole; needs the open transaction of the run, one at a time. */
export async function* pages<Row>(query: Query, text: string): AsyncGenerator<Row[]> {
  await query(`declare page no scroll cursor for ${text}`);
  try {
    for (;;) {
      const rows = await query<Row>(`fetch forward ${PAGE} from page`);
      if (rows.length === 0) return;
      yield rows;
    }
  } finally {
    await query("close page");
  }
}
