/** The load generator: a process that runs the jobs of its parent. The parent awaits each job before the next. */
import { runLiveOrderLoad } from "./live-order-load.ts";
import type { LoadGeneratorJobName } from "./load-jobs.ts";
import { runLocationFlood } from "./location-flood.ts";
import { runPaidLiveOrderLoad } from "./order-payment-load.ts";
import { measureAlternatingLoad, runBenchSaturatingLoad, runFixedRateLoads } from "./request-load.ts";
import { runTillPushLoad } from "./till-push-load.ts";

const loadJobRunners: Record<LoadGeneratorJobName, (job: never) => Promise<unknown>> = {
  steady: runFixedRateLoads,
  saturate: runBenchSaturatingLoad,
  alternate: measureAlternatingLoad,
  push: runTillPushLoad,
  follow: runLiveOrderLoad,
  pay: runPaidLiveOrderLoad,
  flood: runLocationFlood,
};

process.on("message", async ({ name, job }: { name: LoadGeneratorJobName; job: never }) => {
  try {
    process.send?.({ result: await loadJobRunners[name](job) });
  } catch (error) {
    process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
process.on("disconnect", () => process.exit(0));
