import type { LocationDailyQuota } from "@pragma/runtime/admission/daily-quota";
import type { TillIngestServiceConfig } from "./config.ts";

/**
 * Returns the quota of the orders of pushed, replaced and reprocessed tills. The event `report.finalized` contains the ids
 * of all orders of a till, so without it, tills of many small orders could fill the event stream of all locations.
 */
export function createTillOrderQuota(
  config: Pick<TillIngestServiceConfig, "MAX_TILL_ORDERS_PER_DAY">,
): LocationDailyQuota {
  return { name: "till_orders", maximum: config.MAX_TILL_ORDERS_PER_DAY, unit: "orders" };
}

/** Returns the quotas of pushes with `dryRun=true`, which take as much CPU time as other pushes. */
export function createTillDryRunQuotas(
  config: Pick<TillIngestServiceConfig, "MAX_TILL_DRY_RUNS_PER_DAY" | "MAX_TILL_ORDERS_PER_DAY">,
): { dryRuns: LocationDailyQuota; orders: LocationDailyQuota } {
  return {
    dryRuns: { name: "till_dry_runs", maximum: config.MAX_TILL_DRY_RUNS_PER_DAY, unit: "dry runs" },
    orders: { name: "till_dry_run_orders", maximum: config.MAX_TILL_ORDERS_PER_DAY, unit: "orders" },
  };
}
