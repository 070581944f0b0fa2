import type { Hex } from "viem";
import type { Action, Answer } from "../api.ts";
import type { Stage } from "./stage.ts";

type Wanted = {
  /** Minor units of the payment's currency. */
  value?: string;
  unit?: string;
  symbol?: "USDC" | "USDT";
  flow?: "intermediary" | "direct";
};

type Option = {
  id: string;
  actions: Action[];
  amount: { value: string; display: { assetSymbol: string } };
};

/** The process ended before it answered. */
export class Unanswered extends Error {}

/** Merchant and buyer of one payment, who repeat every call until it is answered, always with the same words. */
export type Journey = {
  /** Empty until the create was answered. */
  id(): string;
  key: string;
  buyer: { key: Hex; address: Hex };
  option(): Option | null;
  create(baseUrl: string): Promise<void>;
  options(baseUrl: string): Promise<void>;
  sign(): Promise<string[]>;
  confirm(baseUrl: string): Promise<Answer>;
  /** Whatever is not answered yet, up to the confirm. */
  advance(baseUrl: string): Promise<void>;
};

const gone = (error: unknown): boolean =>
  error instanceof TypeError && /fetch failed|terminated/.test(error.message);

async function answered(call: Promise<Answer>, status: number): Promise<Answer> {
  const answer = await call.catch((error: unknown) => {
    throw gone(error) ? new Unanswered("no answer", { cause: error }) : error;
  });
  if (answer.status !== status) throw new Error(`expected ${status}: ${answer.text}`);
  return answer;
}

let journeys = 0;

/** Begins a journey; nothing is sent yet. */
export function beginJourney(stage: Stage, wanted: Wanted = {}): Journey {
  const { value = "1250", unit = "iso4217/USD", symbol = "USDC", flow = "intermediary" } = wanted;
  const buyer = stage.test.buyer("everything");
  const key = `crash-${++journeys}`;
  let id = "";
  let option: Option | null = null;
  let outputs: string[] | null = null;
  let confirmed = false;
  const journey: Journey = {
    id: () => id,
    key,
    buyer,
    option: () => option,
    async create(baseUrl) {
      const { body } = await answered(
        stage.api(baseUrl).create({ value, unit, flow, headers: { "Idempotency-Key": key } }),
        201,
      );
      id = body.paymentId;
    },
    async options(baseUrl) {
      const accounts = [`${stage.caip2}:${buyer.address}`];
      const ask = async (): Promise<Option | undefined> => {
        const { body } = await answered(stage.api(baseUrl).options(id, accounts), 200);
        return body.options.find((o: Option) => o.amount.display.assetSymbol === symbol);
      };
      // A chain that was too busy to answer offers nothing at that moment, so a wallet asks again.
      const found = await stage.wait(ask, (one) => one !== undefined, `${symbol} is offered`);
      option = found ?? null;
    },
    async sign() {
      if (option === null) throw new Error("nothing to sign yet");
      const done: string[] = [];
      for (const action of option.actions)
        done.push(await stage.api("").execute(action, buyer.key));
      outputs = done;
      return done;
    },
    async confirm(baseUrl) {
      outputs ??= await journey.sign();
      const answer = await answered(stage.api(baseUrl).confirm(id, option?.id ?? "", outputs), 200);
      confirmed = true;
      return answer;
    },
    async advance(baseUrl) {
      if (id === "") await journey.create(baseUrl);
      if (option === null) await journey.options(baseUrl);
      if (!confirmed) await journey.confirm(baseUrl);
    },
  };
  return journey;
}

/** As `advance`, where the process may end at any moment; true: everything was answered. */
export async function advanceOrLose(journey: Journey, baseUrl: string): Promise<boolean> {
  try {
    await journey.advance(baseUrl);
    return true;
  } catch (error) {
    if (error instanceof Unanswered) return false;
    throw error;
  }
}
