import { checkout } from "./checkout.ts";
import { collect } from "./collect.ts";
import { router } from "./init.ts";
import { sandbox } from "./sandbox.ts";

/** Everything the pages call. */
export const appRouter = router({ checkout, collect, sandbox });

/** What a client needs to know of it: types only. */
export type AppRouter = typeof appRouter;
