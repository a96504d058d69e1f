import type { JsonLimits } from "@pragma/runtime/json-limits";

/**
 * What a till may hold: as much as 50 MB of real orders do. Whatever is accepted reporting
 * has to calculate in the memory of one of its threads.
 */
export const tillLimits: JsonLimits = { values: 2_000_000, containers: 150_000 };

/** What one order may hold, or the till outside its orders: well beyond any real one. Real orders have ten levels. */
export const orderLimits = { items: 20_000, levels: 50 };
