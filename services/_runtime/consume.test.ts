import { afterAll, beforeAll, expect, it } from "vitest";
import { readConfig, runtimeConfig } from "./config.ts";
import { startConsuming } from "./consume.ts";
import { openEventBus } from "./event-bus.ts";
import { createLogger } from "./logger.ts";
import { createMetrics } from "./metrics.ts";
import { openDatabase } from "./postgres.ts";
import { sleep } from "./sleep.ts";
import { on } from "./subscription.ts";
import { eventually } from "./testing/eventually.ts";
import { createTestEnvironment, type TestEnvironment } from "./testing/test-environment.ts";

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await createTestEnvironment();
});
afterAll(() => environment?.remove());

it("stops in time when it is told to while it is only about to begin", async () => {
  const config = readConfig(runtimeConfig, environment.variables);
  const log = createLogger({ name: "test", level: "silent" });
  const database = openDatabase(config, { schema: "any", log });
  const bus = openEventBus(config, { name: "accounts", log });
  let stopped: Promise<string> | undefined;
  const consuming = startConsuming({
    bus: {
      ...bus,
      async ensureStream() {
        await bus.ensureStream();
        stopped = consuming.stop().then(() => "stopped");
      },
    },
    service: "accounts",
    subscription: on("location.updated", async () => {}),
    database,
    services: {},
    log,
    metrics: createMetrics(),
  });
  await eventually("it to be told", () => stopped !== undefined);
  expect(await Promise.race([stopped, sleep(5_000).then(() => "still at it")])).toBe("stopped");
  await bus.close();
  await database.close();
});
