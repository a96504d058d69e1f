import { numberFromEnv } from "@pragma/runtime/config";
import { z } from "zod";

export const reportingConfig = z.object({
  /** Where till-ingest keeps the bodies of tills: the same address as there. */
  OBJECT_STORE: z.string(),
  /** Threads that calculate reports. */
  CALCULATION_THREADS: numberFromEnv(z.number().int().min(1).max(64)).default(1),
});
