/** The load generator: a process that does what its parent tells it, one job after the other. */
import { follow } from "./follow-orders.ts";
import type { JobName } from "./jobs.ts";
import { pay } from "./pay-orders.ts";
import { push } from "./push-tills.ts";
import { alternate, saturate, steady } from "./requests.ts";

const work: Record<JobName, (job: never) => Promise<unknown>> = { steady, saturate, alternate, push, follow, pay };

process.on("message", async ({ name, job }: { name: JobName; job: never }) => {
  try {
    process.send?.({ answer: await work[name](job) });
  } catch (error) {
    process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
process.on("disconnect", () => process.exit(0));
