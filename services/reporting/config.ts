import { integerEnvSchema } from "@pragma/runtime/config/runtime-config";
import { pageMaxBytesConfig } from "@pragma/runtime/http/page-response";
import { z } from "zod";

export const reportingServiceConfigSchema = z.object({
  ...pageMaxBytesConfig,
  /** URL of the object store with the bodies of tills. Must have the same value as in till-ingest. */
  OBJECT_STORE: z.string(),
  /** The days whose reports and orders are in PostgreSQL only. Tills of earlier days are packed into the object store. */
  HOT_DAYS: integerEnvSchema(1, 36_500).default(100),
  /** Retention of personal data, in days after the till was pushed. If not set, only operators request its erasure. */
  PERSONAL_DATA_RETENTION_DAYS: integerEnvSchema(1, 36_500).optional(),
  /**
   * Years for which tills, reports and orders are kept, counted from their business day. If not set, they are kept for
   * ever.
   */
  REPORTS_KEPT_YEARS: integerEnvSchema(1, 100).optional(),
  /**
   * Heap limit of each worker thread, in megabytes. Must be at least `TILL_READER_HEAP_MB` of till-ingest, so that
   * reporting can calculate every till that till-ingest accepts.
   */
  CALCULATION_HEAP_MB: integerEnvSchema(64, 16_384).default(384),
  /** Number of worker threads that calculate reports. Tills of 4 MB or more have a further thread. */
  CALCULATION_THREADS: integerEnvSchema(1, 64).default(2),
  /** Seconds after which the claim of an accounting or bulk export expires, unless the claiming process renews it. */
  EXPORT_CLAIM_SECONDS: integerEnvSchema(1, 3_600).default(60),
  /** Maximum total size of the files of an accounting export, in bytes. Limited, because they are created in memory. */
  EXPORT_MAX_BYTES: integerEnvSchema(1_000, 256 * 1024 * 1024).default(16 * 1024 * 1024),
  /** Maximum number of unfinished accounting exports per location, or per API key for those of several locations. */
  MAX_UNFINISHED_EXPORTS_PER_LOCATION: integerEnvSchema(1).default(20),
  /** Maximum number of pending and running bulk exports per location. */
  BULK_EXPORT_MAX_UNFINISHED_PER_LOCATION: integerEnvSchema(1, 1_000).default(5),
  /** Maximum number of rows in a bulk export. */
  BULK_EXPORT_MAX_ROWS: integerEnvSchema(1, 1_000_000_000).default(10_000_000),
  /** Maximum total size of the files of a location's bulk exports, in bytes. */
  BULK_EXPORT_MAX_BYTES_PER_LOCATION: integerEnvSchema(1_000).default(2 * 1024 * 1024 * 1024),
  /**
   * Size of a file of a bulk export after which the next file begins, in bytes. A file can be larger by the rows of one
   * till. Files are created in memory, and an export that was interrupted repeats at most one file.
   */
  BULK_EXPORT_FILE_BYTES: integerEnvSchema(1, 64 * 1024 * 1024).default(2 * 1024 * 1024),
  /** Seconds after which a metrics query is canceled: less than reads of the read replica can take. */
  METRICS_QUERY_TIMEOUT_SECONDS: integerEnvSchema(1, 9).default(5),
  /** Maximum number of queries of metrics and e-reports that one instance runs at a time. A location runs at most two. */
  METRICS_QUERY_CONCURRENCY: integerEnvSchema(1, 100).default(3),
  /** Retention of accounting exports and their files, in days. */
  EXPORTS_RETENTION_DAYS: integerEnvSchema(1, 36_500).default(400),
});

export type ReportingServiceConfig = z.output<typeof reportingServiceConfigSchema>;
