import { z } from "zod";
import { numberFromEnv } from "./config.ts";

/** The rate limit of every key whose consumer has none of its own: the gateway applies it, accounts compares with it. */
export const defaultRateLimitConfig = z.object({
  RATE_LIMIT_PER_SECOND: numberFromEnv(z.number().int().min(1).max(1_000_000)).default(100),
  RATE_LIMIT_BURST: numberFromEnv(z.number().int().min(1).max(10_000_000)).default(2_000),
});
