import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readConfig, runtimeConfig } from "../config/runtime-config.ts";
import { createLogger } from "../observability/logger.ts";
import { eventually } from "../testing/eventually.ts";
import { createTestEnvironment, type TestEnvironment } from "../testing/test-environment.ts";
import { createEventBus, type EventBus } from "./event-bus.ts";

let environment: TestEnvironment;
let eventBuses: EventBus[];

beforeAll(async () => {
  environment = await createTestEnvironment();
  const config = readConfig(runtimeConfig, environment.variables);
  const log = createLogger({ name: "test", level: "silent" });
  eventBuses = ["one", "other"].map((name) => createEventBus(config, { name, log }));
  await Promise.all(eventBuses.map((bus) => bus.connected));
});
afterAll(async () => {
  await Promise.all(eventBuses.map((bus) => bus.close()));
  await environment.remove();
});

it("tells every instance, this one among them, of its topic only", async () => {
  const [one, other] = eventBuses.map((bus) => bus.createInstanceNotifier("orders"));
  const stranger = (eventBuses[1] as EventBus).createInstanceNotifier("tills");
  const heard: string[] = [];
  one?.subscribe((locationId, text) => heard.push(`one ${locationId} ${text}`));
  other?.subscribe((locationId, text) => heard.push(`other ${locationId} ${text}`));
  stranger.subscribe((_, text) => heard.push(`stranger ${text}`));
  const locationId = randomUUID();
  // Told again until it is heard: nobody hears what was sent before the server knew of them.
  await eventually("both to hear", () => {
    one?.publish(locationId, "7");
    return ["one", "other"].every((who) => heard.includes(`${who} ${locationId} 7`));
  });
  expect(heard.filter((line) => line.startsWith("stranger"))).toEqual([]);
});

it("keeps nothing: the stream does not take signals", async () => {
  const [bus] = eventBuses;
  await bus?.ensureStream();
  const signals = (bus as EventBus).createInstanceNotifier("orders");
  await bus?.connected;
  await Promise.resolve();
  signals.publish(randomUUID(), "8");
  const connection = await bus?.connected;
  await connection?.nats.flush();
  const { state } = (await connection?.manager.streams.info(bus?.stream ?? "")) ?? expect.unreachable();
  expect(state.messages).toBe(0);
});

it("says nothing, and does not throw, once the bus is closed", async () => {
  const config = readConfig(runtimeConfig, environment.variables);
  const bus = createEventBus(config, { name: "closed", log: createLogger({ name: "test", level: "silent" }) });
  const signals = bus.createInstanceNotifier("orders");
  signals.publish(randomUUID(), "before there is a connection");
  await bus.connected;
  await bus.close();
  expect(() => signals.publish(randomUUID(), "9")).not.toThrow();
});
