import type { Registry } from "./registry.ts";

export const SHIPPED_REGISTRY: Registry = { chains: [], currencies: {} };
