import { numberFromEnv, runtimeConfig } from "@pragma/runtime/config";
import { jobQueueConfig } from "@pragma/runtime/job-queue";
import { z } from "zod";

export const reportingConfig = z.object({
  ...jobQueueConfig.shape,
  /** Signs what this service asks other parts of the product. */
  PRINCIPAL_KEYS: runtimeConfig.shape.PRINCIPAL_KEYS,
  /** Where till-ingest keeps the bodies of tills: the same address as there. */
  OBJECT_STORE: z.string(),
  /** Threads that calculate reports. */
  CALCULATION_THREADS: numberFromEnv(z.number().int().min(1).max(64)).default(1),
  /** How long a maker of an accounting export may go without a word before another takes it over. */
  EXPORT_CLAIM_SECONDS: numberFromEnv(z.number().int().min(1).max(3_600)).default(60),
});
