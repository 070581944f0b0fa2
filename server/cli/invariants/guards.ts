import { TRIGGERS } from "#server/db/check-database.ts";
import { type Check, sqlCheck } from "./check.ts";

/** Bits of `pg_trigger.tgtype`. */
const BITS = { delete: 8, update: 16, truncate: 32 } as const;
const BEFORE = 2;

/** What a guard refuses, by the end of its name; the rest of the name is its table. */
const REFUSED: Record<string, (keyof typeof BITS)[]> = {
  ro: ["update", "delete"],
  tr: ["truncate"],
  kept: ["delete"],
};

/** Guards that refuse less: offers of payments that were never made may be deleted. */
const LESS: Record<string, (keyof typeof BITS)[]> = { payment_option_ro: ["update"] };

const REFUSALS = TRIGGERS.flatMap((name) => {
  const at = name.lastIndexOf("_");
  const verbs = LESS[name] ?? REFUSED[name.slice(at + 1)] ?? [];
  return verbs.map((verb) => `('${name.slice(0, at)}', '${verb}', ${BITS[verb]})`);
}).join(", ");

const GUARDS = TRIGGERS.map((name) => `('${name}')`).join(", ");

/** A trigger `t` that fires for every row and every column, whatever they hold. */
const FIRES = `not t.tgisinternal and t.tgenabled in ('O', 'A') and t.tgqual is null and t.tgattr::text = ''`;

/** I16: what is written once stays as it is, by the guards that a start of the server insists on. */
export const GUARD_CHECK: Check = sqlCheck({
  id: "I16",
  title: "append-only tables refuse change",
  counted: ["refusals", `select * from (values ${REFUSALS}) as v`],
  partly: "triggers only: there is no hash chain, and no right is revoked",
  problems: [
    `select format('%s does not refuse %s', v.name, v.verb) from (values ${REFUSALS}) as v (name, verb, bit)
     where not exists (
       select 1 from pg_trigger t join pg_proc f on f.oid = t.tgfoid
       where t.tgrelid = to_regclass(v.name) and ${FIRES} and (t.tgtype & v.bit) > 0
         and (t.tgtype & ${BEFORE}) > 0 and f.prosrc ~* 'begin\\s+raise\\s+exception')`,
    `select format('guard %s is missing, off or limited', v.name) from (values ${GUARDS}) as v (name)
     where not exists (select 1 from pg_trigger t where t.tgname = v.name and ${FIRES})`,
    `select format('triggers do not fire here: session_replication_role is %s', setting)
     from pg_settings where name = 'session_replication_role' and setting <> 'origin'`,
  ],
});
