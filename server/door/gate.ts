import type { IncomingMessage, ServerResponse } from "node:http";
import { createBodies } from "./bodies.ts";

/**
 * Reads worked on at once; others wait in line as what they arrived as. A crowd that is worked on all together takes three
 * times the memory and is answered no sooner.
 */
const READS_AT_ONCE = 256;
const TELL_EVERY_MS = 1_000;
/** Passed places in the line that are kept before they are cut off together. */
const PASSED = 1_000;

/** What works on one request; resolves when it is answered, or held. */
export type Work = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<unknown>;

type Gate = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

const isRead = ({ method }: IncomingMessage): boolean => method === "GET" || method === "HEAD";

/** What a gate is made of: `work` is what it is before, `refuse` answers what it does not let in. */
type GateParts = {
  /** Most requests worked on or in line, and most bodies on their way. */
  most: number;
  work: Work;
  refuse: Work;
  /** Whom the bodies on their way are counted under. */
  addressOf: (incoming: IncomingMessage) => string;
};

/** Lets in calls with a body. One that is not all there is counted with the bodies until it was read, and only then with the work. */
function createIntake(
  { most, work, addressOf }: GateParts,
  { isFull, turnAway, count }: { isFull(): boolean; turnAway: Gate; count(by: 1 | -1): void },
): Gate {
  const bodies = createBodies(most);
  const start: Gate = (incoming, outgoing) => {
    count(1);
    const done = () => count(-1);
    work(incoming, outgoing).then(done, done);
  };
  const startEarly = (address: string, incoming: IncomingMessage, outgoing: ServerResponse) => {
    let isHere = false;
    const arrived = () => {
      isHere = true;
      bodies.end(address);
      count(1);
    };
    const done = () => {
      incoming.off("end", arrived);
      if (isHere) count(-1);
      else bodies.end(address);
    };
    incoming.once("end", arrived);
    work(incoming, outgoing).then(done, done);
  };
  const take: Gate = (incoming, outgoing) => {
    if (isFull()) return turnAway(incoming, outgoing);
    if (incoming.complete) return start(incoming, outgoing);
    const address = addressOf(incoming);
    if (bodies.begin(address)) startEarly(address, incoming, outgoing);
    else turnAway(incoming, outgoing);
  };
  return (incoming, outgoing) => {
    if (incoming.complete) take(incoming, outgoing);
    // Node tells of a request before it reads on: whether the body came with the head is known once it has.
    else setImmediate(take, incoming, outgoing);
  };
}

/**
 * A gate before `work`. It refuses requests that come while `most` are worked on or in line; `tell` hears at most once a second
 * how many they were. Only reads wait in line, and only for reads: a body may be slow to come.
 */
export function createGate(parts: GateParts, tell: (refused: number) => void): Gate {
  const { most, work, refuse } = parts;
  const line: [IncomingMessage, ServerResponse][] = [];
  let passed = 0;
  let reading = 0;
  let writing = 0;
  let refused = 0;

  const read: Gate = (incoming, outgoing) => {
    reading += 1;
    work(incoming, outgoing).then(readNext, readNext);
  };
  const readNext = () => {
    reading -= 1;
    const next = line[passed];
    if (next === undefined) return;
    passed += 1;
    if (passed === line.length || passed > PASSED) {
      line.splice(0, passed);
      passed = 0;
    }
    read(...next);
  };
  const turnAway: Gate = (incoming, outgoing) => {
    if (refused === 0)
      setTimeout(() => {
        tell(refused);
        refused = 0;
      }, TELL_EVERY_MS).unref();
    refused += 1;
    void refuse(incoming, outgoing);
  };
  const isFull = () => reading + writing + line.length - passed >= most;
  const count = (by: 1 | -1) => {
    writing += by;
  };
  const write = createIntake(parts, { isFull, turnAway, count });
  return (incoming, outgoing) => {
    if (!isRead(incoming)) write(incoming, outgoing);
    else if (isFull()) turnAway(incoming, outgoing);
    else if (reading < READS_AT_ONCE) read(incoming, outgoing);
    else line.push([incoming, outgoing]);
  };
}
