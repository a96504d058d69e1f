import { numberFromEnv } from "@pragma/runtime/config";
import { z } from "zod";
import { legacyConfig } from "./legacy/legacy-config.ts";
import { tillQuotaConfig } from "./till-quotas.ts";

export const tillIngestConfig = z.object({
  /** Where the bodies of tills are kept: `file:/folder` or `s3://bucket/prefix`. */
  OBJECT_STORE: z.string().regex(/^(?:file:\/|s3:\/\/)/, "must start with file:/ or s3://"),
  /** Memory of each of the threads that parse and check large tills: the largest till needs 256. A `--max-old-space-size` of the process takes its place. */
  READING_HEAP_MB: numberFromEnv(z.number().int().min(64).max(16_384)).default(384),
  /** How long a till may be without its result before it is announced again. */
  SWEEP_AFTER_SECONDS: numberFromEnv(z.number().int().min(1)).default(300),
  /** How long the bodies of tills are kept that others took the place of; for ever when it is not set. */
  REPLACED_BODIES_KEPT_DAYS: numberFromEnv(z.number().int().min(1).max(36_500)).optional(),
  ...tillQuotaConfig,
  /** How many times a day the tills of a location may be replaced or reprocessed, one by one. */
  TILL_REVISIONS_PER_DAY: numberFromEnv(z.number().int().min(1)).default(5_000),
  ...legacyConfig,
});
