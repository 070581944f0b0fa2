import type { Context } from "./context.ts";
import { EXAMPLES, type Finding, judge } from "./finding.ts";

/** One invariant: `title` is its sentence in few words. */
export type Check = { id: string; title: string; run(context: Context): Promise<Finding> };

/** A statement with its values. */
export type Statement = { text: string; values: unknown[] };

type SqlCheck = {
  id: string;
  title: string;
  /** What is looked at, by name, and how many there are. */
  counted: [noun: string, sql: string];
  /** Statements whose every row is one problem, told in its column `problem`. */
  problems: (string | ((context: Context) => Statement))[];
  /** What the statements cannot show. */
  partly?: string;
  /** One row with a column `remark`, null when there is nothing to say. */
  remark?: string | ((context: Context) => Statement);
};

const statement = (source: string | ((context: Context) => Statement), context: Context) =>
  typeof source === "string" ? { text: source, values: [] } : source(context);

/** The problems that statements find: how many there are, and the first few. */
export async function findProblems(
  context: Context,
  sources: SqlCheck["problems"],
): Promise<{ problems: number; examples: string[] }> {
  let problems = 0;
  const examples: string[] = [];
  for (const source of sources) {
    const { text, values } = statement(source, context);
    const rows = await context.query<{ problem: string; total: string }>(
      `select problem, count(*) over () as total from (${text}) as found (problem) order by problem limit ${EXAMPLES}`,
      values,
    );
    problems += Number(rows[0]?.total ?? 0);
    examples.push(...rows.map(({ problem }) => problem));
  }
  return { problems, examples: examples.slice(0, EXAMPLES) };
}

/** An invariant that the database alone can show. */
export function sqlCheck({ id, title, counted, problems, partly, remark }: SqlCheck): Check {
  return {
    id,
    title,
    async run(context) {
      const found = await findProblems(context, problems);
      if (found.problems > 0) return { outcome: "violated", ...found };
      const [noun, sql] = counted;
      const [row] = await context.query<{ n: string }>(`select count(*) as n from (${sql}) as c`);
      const notes = [`${row?.n ?? 0} ${noun}`];
      if (remark !== undefined) {
        const { text, values } = statement(remark, context);
        const [said] = await context.query<{ remark: string | null }>(text, values);
        if (said?.remark != null) notes.push(said.remark);
      }
      return judge([], notes.join("; "), partly === undefined ? [] : [partly]);
    },
  };
}

/** An invariant that database and chains do not show; `why` says where it is shown. */
export const notChecked = (id: string, title: string, why: string): Check => ({
  id,
  title,
  run: async () => ({ outcome: "not_checked", note: why, failed: false }),
});
