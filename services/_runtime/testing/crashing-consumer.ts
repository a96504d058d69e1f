import type { BusEventData } from "@pragma/contracts/events";
import { z } from "zod";
import { sleep } from "../concurrency/sleep.ts";
import { defineEventSubscription } from "../messaging/subscription.ts";
import { createLogger } from "../observability/logger.ts";
import { createPrometheusMetrics } from "../observability/metrics.ts";
import { defineService } from "../service/define-service.ts";
import { startService } from "../service/start-service.ts";
import { createServiceRegistry } from "../service-calls/service-registry.ts";

/** Handles an event for half a second. Prints `begin` and `end`. Before `end`, kills the process if legacyId is 666. */
async function handle({ locationId, legacyId }: BusEventData<"location.updated">): Promise<void> {
  process.stdout.write(`begin ${locationId}\n`);
  await sleep(500);
  if (legacyId === 666) process.kill(process.pid, "SIGKILL");
  process.stdout.write(`end ${locationId}\n`);
}

const service = defineService<z.ZodObject, object>({
  name: "accounts",
  module: import.meta.url,
  config: z.object({}),
  createResources: () => ({ services: {} }),
  routes: [],
  subscriptions: [
    defineEventSubscription<object, "location.updated">("location.updated", async ({ data, once }) => {
      await handle(data);
      await once(async () => {});
    }),
  ],
});

await startService(service, {
  environment: process.env,
  log: createLogger({ name: "crashing-consumer", level: "silent" }),
  metrics: createPrometheusMetrics(),
  registry: createServiceRegistry(process.env),
});
process.stdout.write("started\n");
