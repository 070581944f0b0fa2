export { POST } from "#server/trpc/handler.ts";
