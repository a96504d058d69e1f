import type { LocationRef } from "@pragma/contracts/principal";
import type { LocationDailyQuota } from "@pragma/runtime/admission/daily-quota";
import { integerEnvSchema } from "@pragma/runtime/config/runtime-config";
import { z } from "zod";

const legacyBackofficeUrl = z.url({ protocol: /^https?$/, error: "must be an http:// or https:// URL" }).optional();
const legacyBackofficeToken = z.string().min(1).optional();

export const tillIngestServiceConfigSchema = z.object({
  /** URL of the object store for the bodies of tills: `file:/folder` or `s3://bucket/prefix`. */
  OBJECT_STORE: z.string().regex(/^(?:file:\/|s3:\/\/)/, "must start with file:/ or s3://"),
  /**
   * Heap limit in megabytes of a thread that parses tills, unless `--max-old-space-size` is set. The largest till needs
   * 256.
   */
  TILL_READER_HEAP_MB: integerEnvSchema(64, 16_384).default(384),
  /** Seconds for which a till can wait for its report. After this time, `till.pushed` is published again. */
  TILL_REQUEUE_AFTER_SECONDS: integerEnvSchema(1).default(300),
  /** Days for which bodies of replaced revisions are kept; by default, until personal data of the till is erased. */
  REPLACED_BODIES_RETENTION_DAYS: integerEnvSchema(1, 36_500).optional(),
  /** Maximum number of tills that a location can push or replace per day. The default allows to import ten years. */
  MAX_TILLS_PER_DAY: integerEnvSchema(1).default(20_000),
  /** Maximum bytes of tills that a location can push or replace per day. The default allows 20,000 tills of 1 MB. */
  MAX_TILL_BYTES_PER_DAY: integerEnvSchema(1).default(20_000_000_000),
  /**
   * Maximum number of orders in the tills of a location per day, and in its dry runs. The default allows 20,000 tills
   * of 250.
   */
  MAX_TILL_ORDERS_PER_DAY: integerEnvSchema(1).default(5_000_000),
  /** Maximum number of pushes with `dryRun=true` per location and day. */
  MAX_TILL_DRY_RUNS_PER_DAY: integerEnvSchema(1).default(20_000),
  /** Maximum number of till replacements and reprocessings per location and day. Bulk reprocessings do not count. */
  MAX_TILL_REVISIONS_PER_DAY: integerEnvSchema(1).default(5_000),
  LEGACY_POPINA_URL: legacyBackofficeUrl,
  LEGACY_POPINA_TOKEN: legacyBackofficeToken,
  LEGACY_JALIA_URL: legacyBackofficeUrl,
  LEGACY_JALIA_TOKEN: legacyBackofficeToken,
  /** Timeout of each request to a legacy backoffice, including the response body, in seconds. */
  LEGACY_TIMEOUT_SECONDS: integerEnvSchema(1, 20).default(5),
  /** Maximum number of tills that one API call fetches from a legacy backoffice at the same time. */
  LEGACY_CONCURRENCY: integerEnvSchema(1, 32).default(4),
});

export type TillIngestServiceConfig = z.output<typeof tillIngestServiceConfigSchema>;

/**
 * A sandbox has a fiftieth of the quotas, because everyone can create one. It needs 30 tills when it is filled, and 12 a day
 * while it is used.
 */
const sandboxQuotaDivisor = 50;

/** Returns a function that returns the daily quotas of a location. */
export function createTillQuotas(config: TillIngestServiceConfig) {
  const divideBy = (divisor: number) => {
    const divide = (maximum: number) => Math.max(1, Math.floor(maximum / divisor));
    return {
      tills: { name: "tills", maximum: divide(config.MAX_TILLS_PER_DAY), unit: "tills" },
      bytes: { name: "till_bytes", maximum: divide(config.MAX_TILL_BYTES_PER_DAY), unit: "bytes" },
      /** Without it, tills of many tiny orders could fill the stream with `report.finalized`, which has all order ids. */
      orders: { name: "till_orders", maximum: divide(config.MAX_TILL_ORDERS_PER_DAY), unit: "orders" },
      /** Replacements and reprocessings. Bulk reprocessings do not count. */
      revisions: { name: "till_revisions", maximum: divide(config.MAX_TILL_REVISIONS_PER_DAY), unit: "revisions" },
      /** Dry runs take as much CPU time as other pushes. */
      dryRuns: { name: "till_dry_runs", maximum: divide(config.MAX_TILL_DRY_RUNS_PER_DAY), unit: "dry runs" },
      dryRunOrders: { name: "till_dry_run_orders", maximum: divide(config.MAX_TILL_ORDERS_PER_DAY), unit: "orders" },
    } satisfies Record<string, LocationDailyQuota>;
  };
  const [quotas, sandboxQuotas] = [divideBy(1), divideBy(sandboxQuotaDivisor)];
  return (location: Pick<LocationRef, "isSandbox"> | null | undefined) =>
    location?.isSandbox ? sandboxQuotas : quotas;
}
