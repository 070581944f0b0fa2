import { playRows } from "./crash/play-rows.ts";

// Guarantee: a payment that meets a crash or a fault of rows F27 to F40 ends once, settled once, and the chain agrees.
playRows(27, 40);
