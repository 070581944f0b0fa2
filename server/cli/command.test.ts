import { expect, test } from "vitest";
import { EnvError } from "#server/platform/env.ts";
import { errorInWords, Misuse, withUsage } from "./command.ts";

const refusal = (code: string, message: string) => Object.assign(new Error(message), { code });

// Guarantee: an operator reads one sentence that names what to mend.
test.for([
  [new Misuse("Give a name."), /^Give a name\.$/],
  [new EnvError(["PORT: wrong"]), /PORT: wrong/],
  [refusal("ERR_PARSE_ARGS_UNKNOWN_OPTION", "Unknown option '--x'"), /^Unknown option '--x'$/],
  [refusal("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:1"), /^DATABASE_URL: .* ECONNREFUSED/],
  [refusal("28P01", "password authentication failed"), /^DATABASE_URL: .*password/],
  [refusal("42P01", 'relation "payment" does not exist'), /not migrated .* run npm run migrate/],
  [refusal("42501", "permission denied for table payment"), /^the role .* may not .*payment/],
  [refusal("ENOENT", "no such file: logo.png"), /^no such file: logo\.png$/],
  [new AggregateError([refusal("ETIMEDOUT", "one")], "many"), /^many$/],
] as [Error, RegExp][])("%s", ([error, says]) => {
  expect(errorInWords(error)).toMatch(says);
  expect(errorInWords(error)).not.toMatch(/^\s+at /m);
});

// Guarantee: how a command is used is told to who used it wrongly, and to nobody whose database is away.
test("usage", () => {
  expect(withUsage(new Misuse("No."), "Usage")).toMatchObject({ message: "No.\n\nUsage" });
  const away = refusal("ECONNREFUSED", "connect");
  expect(withUsage(away, "Usage")).toBe(away);
});
