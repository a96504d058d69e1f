import { numberFromEnv } from "@pragma/runtime/config";
import { pageConfig } from "@pragma/runtime/reply-with-page";
import { z } from "zod";

export const reportingConfig = z.object({
  ...pageConfig,
  /** Where till-ingest keeps the bodies of tills: the same address as there. */
  OBJECT_STORE: z.string(),
  /** How long what says who ordered is kept, from when its till was pushed; as long as the rest when it is not set. */
  PERSONAL_DATA_KEPT_DAYS: numberFromEnv(z.number().int().min(1).max(36_500)).optional(),
  /** Threads that calculate reports; a location has one of them at a time, and a large till leaves one to others. */
  CALCULATION_THREADS: numberFromEnv(z.number().int().min(1).max(64)).default(2),
  /** Memory of each of these threads: as much as till-ingest's have, or more. */
  CALCULATION_HEAP_MB: numberFromEnv(z.number().int().min(64).max(16_384)).default(384),
  /** How long a maker of an accounting export may go without a word before another takes it over. */
  EXPORT_CLAIM_SECONDS: numberFromEnv(z.number().int().min(1).max(3_600)).default(60),
  /** Bytes of all files of an accounting export, which a process holds in memory while it makes them. */
  EXPORT_MAX_BYTES: numberFromEnv(
    z
      .number()
      .int()
      .min(1_000)
      .max(256 * 1024 * 1024),
  ).default(16 * 1024 * 1024),
  /** Accounting exports of a location that have not come to their end. */
  EXPORTS_UNFINISHED_PER_LOCATION: numberFromEnv(z.number().int().min(1)).default(20),
  /** How long accounting exports and their files are kept. */
  EXPORTS_KEPT_DAYS: numberFromEnv(z.number().int().min(1).max(36_500)).default(400),
});
