export { merchantIcon as GET } from "#server/http/merchant-icon.ts";
