import type { IncomingMessage, ServerResponse } from "node:http";

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

/**
 * A gate before `work`. `refuse` answers requests that come while `most` are worked on or in line; `tell` hears at most once
 * a second how many they were. Only reads wait in line, and only for reads: a body may be slow to come.
 */
export function createGate(
  { most, work, refuse }: { most: number; work: Work; refuse: Work },
  tell: (refused: number) => void,
): Gate {
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
  const written = () => {
    writing -= 1;
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
  return (incoming, outgoing) => {
    if (reading + writing + line.length - passed >= most) turnAway(incoming, outgoing);
    else if (!isRead(incoming)) {
      writing += 1;
      work(incoming, outgoing).then(written, written);
    } else if (reading < READS_AT_ONCE) read(incoming, outgoing);
    else line.push([incoming, outgoing]);
  };
}
