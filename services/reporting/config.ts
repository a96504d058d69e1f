import { integerEnvSchema } from "@pragma/runtime/config/runtime-config";
import { pageSizeConfig } from "@pragma/runtime/http/page-response";
import { z } from "zod";

export const reportingConfig = z.object({
  ...pageSizeConfig,
  /** URL of the object store that holds the bodies of tills: the same value as for till-ingest. */
  OBJECT_STORE: z.string(),
  /** Retention of customers' personal data, in days since the till was pushed. Unset: it does not expire. */
  PERSONAL_DATA_KEPT_DAYS: integerEnvSchema(1, 36_500).optional(),
  /** Heap of each thread that calculates reports or writes exports: at least that of till-ingest's threads. */
  CALCULATION_HEAP_MB: integerEnvSchema(64, 16_384).default(384),
  /** Lifetime of a claim to an accounting export, unless it is renewed. Then another process may take over. */
  EXPORT_CLAIM_SECONDS: integerEnvSchema(1, 3_600).default(60),
  /** Maximum total size of an export's files, which a process holds in memory while it writes them. */
  EXPORT_MAX_BYTES: integerEnvSchema(1_000, 256 * 1024 * 1024).default(16 * 1024 * 1024),
  /** The maximum number of pending and running accounting exports of a location. */
  EXPORTS_UNFINISHED_PER_LOCATION: integerEnvSchema(1).default(20),
  /** Retention of accounting exports and their files. */
  EXPORTS_KEPT_DAYS: integerEnvSchema(1, 36_500).default(400),
});

export type ReportingConfig = z.output<typeof reportingConfig>;
