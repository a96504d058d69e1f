import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "../config/runtime-config.ts";
import { createLogger } from "../observability/logger.ts";
import { eventually } from "../testing/eventually.ts";
import { type InterruptingProxy, startInterruptingProxy } from "../testing/interrupting-proxy.ts";
import { defineTestLocationEventService, publishTestLocationUpdatedEvent } from "../testing/location-event-service.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { startTestService, type TestService } from "../testing/test-service.ts";
import { createEventBus, type EventBus } from "./event-bus.ts";

/** The number of resets under load. The soak makes more, because each reconnect takes half a second. */
const resetCount = Number(process.env.CONNECTION_RESETS ?? 4);

let environment: IsolatedTestEnvironment;
let proxy: InterruptingProxy;
let service: TestService;
let bus: EventBus;

beforeAll(async () => {
  proxy = await startInterruptingProxy(process.env.NATS_URL ?? "");
  environment = await createIsolatedTestEnvironment({ NATS_URL: proxy.url });
  service = await startTestService(defineTestLocationEventService(), environment);
  const config = readConfigFromEnvironment(commonServiceConfigSchema, environment.variables);
  bus = createEventBus(config, { name: "test", log: createLogger({ name: "test", level: "silent" }) });
  await bus.connected;
  bus.answerRequests("echo", async (text) => text);
});
afterAll(async () => {
  await bus?.close();
  await service?.stop();
  await environment?.remove();
  await proxy?.close();
});

async function expectEachEffectOnce(locationIds: string[]): Promise<void> {
  const countEffects = () =>
    service.db.sql<{ locationId: string; count: number }[]>`
      select location_id, count(*)::int from effects where location_id = any(${locationIds}) group by location_id`;
  await eventually("all effects", async () => (await countEffects()).length === locationIds.length, {
    timeoutSeconds: 40,
  });
  await service.waitForEmptyOutbox();
  expect((await countEffects()).filter(({ count }) => count !== 1)).toEqual([]);
}

/** What the client sends, and how many bytes of the response arrive before the reset. */
const moments: [string, number | "request"][] = [
  ["location.updated", "request"],
  ["location.updated", 0],
  ["CONSUMER.MSG.NEXT", "request"],
  ["CONSUMER.MSG.NEXT", 40],
  ["+ACK", "request"],
  ["CONNECT {", "request"],
  ["CONNECT {", 2],
];

it("rejects a request whose connection is reset, and answers the next one", async () => {
  await eventually("a connection", () => bus.checkConnection().then(() => true));
  const interruption = proxy.interrupt("hello", 0, "reset");
  await expect(bus.request("echo", "hello", { timeoutMs: 1_000 })).rejects.toThrow();
  expect(interruption.isInterrupted).toBe(true);
  expect(await eventually("an answer", () => bus.request("echo", "again", { timeoutMs: 1_000 }))).toBe("again");
});

it("has the effect of each event once, after resets at each moment and under load", {
  timeout: 60_000 + 2_000 * resetCount,
}, async () => {
  const locationIds: string[] = [];
  let isDone = false;
  const publishAll = async () => {
    while (!isDone) {
      locationIds.push(await publishTestLocationUpdatedEvent(service.db));
      await sleep(5);
    }
  };
  const publishing = publishAll();
  for (const [marker, maxBytes] of moments) {
    const interruption = proxy.interrupt(marker, maxBytes, "reset");
    if (marker === "CONNECT {") proxy.resetConnections();
    await eventually(`a reset at ${marker}`, () => interruption.isInterrupted);
  }
  for (let resets = 0; resets < resetCount; resets += proxy.resetConnections()) await sleep(Math.random() * 700);
  isDone = true;
  await publishing;
  await expectEachEffectOnce(locationIds);
});
