import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "#server/sandbox/prepare.ts";
import {
  downForHours,
  downWhileChainMoves,
  frontRun,
  laggingNode,
  logsLost,
  logsMissing,
  receiptsMissing,
  reorgAfterSuccess,
  reorgBeforeSuccess,
} from "./faults-chain.ts";
import {
  crashWhileOrphaning,
  crashWhileRewinding,
  heldWhileSettling,
  judgedAfterReorg,
  revertedThenGone,
  revertRecordedTwice,
  rewoundTooLate,
  takenBackTwice,
} from "./faults-overtaken.ts";
import {
  databaseProcessKilled,
  halfMigration,
  notificationLost,
  orphanedPostgres,
  twoServers,
} from "./faults-process.ts";
import { crashWhileClaiming } from "./faults-push.ts";
import { crashWhileRefunding, refundTurnsInvalid } from "./faults-refund.ts";
import {
  commitAnswerLost,
  crashOnBlock,
  crashWhileExpiring,
  downPastExpiry,
  expiryMeetsConfirm,
  killedBeforeFetch,
  oneChainDown,
  screeningDown,
  windowClosesDuringConfirm,
} from "./faults-request.ts";
import {
  captureNotFinal,
  destinationDenied,
  intermediaryShort,
  settlementMadeTwice,
} from "./faults-settle.ts";
import { lifetimeRunsDown } from "./faults-solana.ts";
import {
  broadcastAnswerLost,
  killedDuringReplacement,
  nodeRefusesTransaction,
  relayerWithoutGas,
  reservedCallTurnsInvalid,
  settlementAnswerLost,
  twoWorkersSettle,
  twoWorkersSubmit,
} from "./faults-submit.ts";
import { crashWhileTelling, receiverHangs, secretRotated } from "./faults-webhook.ts";
import { crashAt } from "./finish.ts";
import type { Stage } from "./stage.ts";

/** Makes one thing go wrong during a payment and checks how it ends. */
export type Driver = (stage: Stage) => Promise<void>;

const FAULTS: Record<string, Driver> = {
  "broadcast-answer-lost": broadcastAnswerLost,
  "capture-not-final": captureNotFinal,
  "commit-answer-lost": commitAnswerLost,
  "database-process-killed": databaseProcessKilled,
  "destination-denied": destinationDenied,
  "down-past-expiry": downPastExpiry,
  "down-for-hours": downForHours,
  "down-while-chain-moves": downWhileChainMoves,
  "expiry-meets-confirm": expiryMeetsConfirm,
  "front-run": frontRun,
  "half-migration": halfMigration,
  "held-while-settling": heldWhileSettling,
  "intermediary-short": intermediaryShort,
  "judged-after-reorg": judgedAfterReorg,
  "killed-before-fetch": killedBeforeFetch,
  "lagging-node": laggingNode,
  "lifetime-runs-down": lifetimeRunsDown,
  "logs-lost": logsLost,
  "logs-missing": logsMissing,
  "node-refuses-transaction": nodeRefusesTransaction,
  "notification-lost": notificationLost,
  "one-chain-down": oneChainDown,
  "orphaned-postgres": orphanedPostgres,
  "receipts-missing": receiptsMissing,
  "receiver-hangs": receiverHangs,
  "refund-turns-invalid": refundTurnsInvalid,
  "relayer-without-gas": relayerWithoutGas,
  "reorg-after-success": reorgAfterSuccess,
  "reorg-before-success": reorgBeforeSuccess,
  "reserved-call-turns-invalid": reservedCallTurnsInvalid,
  "revert-recorded-twice": revertRecordedTwice,
  "reverted-then-gone": revertedThenGone,
  "rewound-too-late": rewoundTooLate,
  "screening-down": screeningDown,
  "secret-rotated": secretRotated,
  "settlement-answer-lost": settlementAnswerLost,
  "settlement-made-twice": settlementMadeTwice,
  "taken-back-twice": takenBackTwice,
  "two-servers": twoServers,
  "two-workers-settle": twoWorkersSettle,
  "two-workers-submit": twoWorkersSubmit,
  "window-closes-during-confirm": windowClosesDuringConfirm,
};

/** Fail points that a payment does not run into by itself. */
const SPECIAL: Record<string, Driver> = {
  "claim.before_commit": (stage) => crashWhileClaiming(stage, "claim.before_commit"),
  "claim.after_commit": (stage) => crashWhileClaiming(stage, "claim.after_commit"),
  "expire.before_change": crashWhileExpiring,
  "orphan.before_commit": (stage) => crashWhileOrphaning(stage, "orphan.before_commit"),
  "replace.after_store": killedDuringReplacement,
  "rewind.before_commit": (stage) => crashWhileRewinding(stage, "rewind.before_commit"),
  "rewind.after_commit": (stage) => crashWhileRewinding(stage, "rewind.after_commit"),
  "watch.before_record": (stage) => crashOnBlock(stage, "watch.before_record"),
  "watch.after_record": (stage) => crashOnBlock(stage, "watch.after_record"),
};

/** Kinds of transactions, where a fail point is named after the one under way. */
const KINDS = ["capture", "settlement", "refund"];

let points: string[] | undefined;

/** Every fail point that the code has. */
export const failpointsInCode = (): string[] => {
  points ??= readPoints();
  return points;
};

function readPoints(): string[] {
  const server = join(ROOT, "server");
  const found = new Set<string>();
  for (const file of readdirSync(server, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts") || file.endsWith(".test.ts") || file.startsWith("testing")) continue;
    const text = readFileSync(join(server, file), "utf8");
    for (const [, point = ""] of text.matchAll(/await failpoint\(["`]([^"`]+)["`]\)/g))
      for (const kind of KINDS) found.add(point.replace(/\$\{[^}]+\}/, kind));
  }
  return [...found].toSorted();
}

const FAILPOINT = /^failpoint ([a-z_.]+)(?:@([1-9]))?( with Permit2)?$/;

/** The driver a row names, or null when there is none such. */
export function driverOf(name: string): Driver | null {
  const fault = /^fault ([a-z-]+)$/.exec(name)?.[1];
  if (fault !== undefined) return FAULTS[fault] ?? null;
  const [, point = "", nth = "1", permit2] = FAILPOINT.exec(name) ?? [];
  if (!failpointsInCode().includes(point)) return null;
  const symbol = permit2 === undefined ? "USDC" : "USDT";
  if (point.startsWith("refund.")) return (stage) => crashWhileRefunding(stage, point);
  if (/^(number|webhook)\./.test(point)) return (stage) => crashWhileTelling(stage, point);
  return SPECIAL[point] ?? ((stage) => crashAt(stage, point, { nth: Number(nth), symbol }));
}

/** Names of every driver that exists. */
export const driverNames = (): string[] => [
  ...Object.keys(FAULTS).map((name) => `fault ${name}`),
  ...failpointsInCode().map((point) => `failpoint ${point}`),
];
