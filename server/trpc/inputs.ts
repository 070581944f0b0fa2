import { z } from "zod";
import { confirmPayment } from "#server/contract/gateway.ts";
import { text } from "#server/contract/shapes.ts";
import { validate } from "#server/http/validate.ts";

/** A shape as tRPC wants it, with the refusals of the REST API. */
export const input =
  <T extends z.ZodType>(shape: T) =>
  (value: unknown): z.output<T> =>
    validate(shape, value, "body");

const id = z.string().max(200);
const account = z.string().max(200);
const accounts = z
  .array(account)
  .min(1, "must name at least one account")
  .max(100, "must name at most 100 accounts");
const optionId = text(1, 64);
const link = { pid: id, accounts, t: z.string().max(200) };

/** Longest a page may ask to be held, in milliseconds. */
export const MAX_WAIT_MS = 25_000;

/** What each procedure is sent. */
export const INPUTS = {
  payment: z.object({ id }),
  wait: z.object({
    id,
    version: z.string().max(100),
    maxMs: z
      .int()
      .min(0)
      .transform((ms) => Math.min(ms, MAX_WAIT_MS))
      .default(MAX_WAIT_MS),
  }),
  options: z.object({ id, accounts }),
  fetch: z.object({ id, optionId }),
  confirm: z.object({ id, optionId, results: confirmPayment.body.shape.results }),
  account: z.object({ id, account }),
  link: z.object(link),
  submit: z.object({ ...link, data: z.record(z.string(), z.unknown()) }),
  fund: z.object({ address: z.string().max(100), family: z.enum(["eip155", "solana"]) }),
  rpc: z.object({
    chain: z.string().max(60),
    method: z.string().max(60),
    params: z.array(z.unknown()).max(10).default([]),
  }),
} as const;
