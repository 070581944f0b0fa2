import { playShare } from "./crash/play-rows.ts";

// Guarantee: a payment that meets a crash or a fault of this share of the matrix ends once, settled once, and the chain agrees.
playShare(1);
