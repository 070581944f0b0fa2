import { playRows } from "./crash/play-rows.ts";

// Guarantee: a payment that meets a crash or a fault of rows F1 to F26 ends once, settled once, and the chain agrees.
playRows(1, 26);
