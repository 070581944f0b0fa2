import { playRows } from "./crash/play-rows.ts";

// Guarantee: a payment that meets a crash or a fault of rows F41 to F53 ends once, settled once, and the chain agrees.
playRows(41, 53);
