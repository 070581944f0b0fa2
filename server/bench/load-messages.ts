import type { RequestTemplate } from "./raw-http.ts";

/** What a load process is asked to do. Times in answers are milliseconds of the machine's monotonic clock. */
export type LoadOrder =
  /** `connections` callers, each asking again as soon as it is answered, for `seconds`. */
  | {
      kind: "run";
      port: number;
      connections: number;
      seconds: number;
      expect: number;
      request: RequestTemplate;
    }
  /** One request on each of `count` connections; reports "asked" when all were sent, and at the end every answer, which must contain `expect`. */
  | { kind: "hold"; port: number; count: number; expect: string; request: RequestTemplate };

export type LoadReport =
  | { kind: "ran"; seconds: number; latenciesMs: number[]; wrong: string[] }
  | { kind: "asked" }
  /** `answeredAt[n]` belongs to request n. */
  | { kind: "held"; answeredAt: number[]; wrong: string[] }
  | { kind: "broke"; message: string };

/** The machine's monotonic clock in milliseconds: the same in every process. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;
