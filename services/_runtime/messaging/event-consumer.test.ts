import { afterAll, beforeAll, expect, it } from "vitest";
import { sleep } from "../concurrency/sleep.ts";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "../config/runtime-config.ts";
import { createDatabasePool } from "../database/postgres.ts";
import { createLogger } from "../observability/logger.ts";
import { createPrometheusMetrics } from "../observability/metrics.ts";
import { eventually } from "../testing/eventually.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { createEventBus } from "./event-bus.ts";
import { startEventConsumer } from "./event-consumer.ts";
import { defineEventSubscription } from "./subscription.ts";

let environment: IsolatedTestEnvironment;
beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
});
afterAll(() => environment?.remove());

it("stops within 5 seconds when it is stopped while it starts", async () => {
  const config = readConfigFromEnvironment(commonServiceConfigSchema, environment.variables);
  const log = createLogger({ name: "test", level: "silent" });
  const database = createDatabasePool(config, { schema: "any", log });
  const bus = createEventBus(config, { name: "accounts", log });
  let stopped: Promise<string> | undefined;
  const consumer = startEventConsumer({
    bus: {
      ...bus,
      async ensureStream(kind) {
        await bus.ensureStream(kind);
        stopped = consumer.stop().then(() => "stopped");
      },
    },
    service: "accounts",
    subscription: defineEventSubscription("location.updated", async () => {}),
    database,
    services: {},
    handlerTimeoutMs: 60_000,
    findUnavailableDependencies: async () => [],
    log,
    metrics: createPrometheusMetrics(),
  });
  await eventually("the call of stop", () => stopped !== undefined);
  expect(await Promise.race([stopped, sleep(5_000).then(() => "still running")])).toBe("stopped");
  await bus.close();
  await database.close();
});
