import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "../config/runtime-config.ts";
import { createLogger } from "../observability/logger.ts";
import { eventually } from "../testing/eventually.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { createEventBus, type EventBus } from "./event-bus.ts";
import { eventStreamKinds } from "./event-streams.ts";

let environment: IsolatedTestEnvironment;
let eventBuses: EventBus[];

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  const config = readConfigFromEnvironment(commonServiceConfigSchema, environment.variables);
  const log = createLogger({ name: "test", level: "silent" });
  eventBuses = ["one", "other"].map((name) => createEventBus(config, { name, log }));
  await Promise.all(eventBuses.map((bus) => bus.connected));
});
afterAll(async () => {
  await Promise.all(eventBuses.map((bus) => bus.close()));
  await environment.remove();
});

it("notifies every instance that subscribes to the topic, including the publisher, and no other subscribers", async () => {
  const [one, other] = eventBuses.map((bus) => bus.createInstanceNotifier("orders"));
  const otherTopic = (eventBuses[1] as EventBus).createInstanceNotifier("tills");
  const received: string[] = [];
  one?.subscribe((locationId, text) => received.push(`one ${locationId} ${text}`));
  other?.subscribe((locationId, text) => received.push(`other ${locationId} ${text}`));
  otherTopic.subscribe((_, text) => received.push(`otherTopic ${text}`));
  const locationId = randomUUID();
  // Publishes repeatedly, because subscribers miss notifications until the server has registered their subscriptions.
  await eventually("both to receive it", () => {
    one?.publish(locationId, "7");
    return ["one", "other"].every((instance) => received.includes(`${instance} ${locationId} 7`));
  });
  expect(received.filter((line) => line.startsWith("otherTopic"))).toEqual([]);
});

it("stores no notifications in the streams", async () => {
  const [bus] = eventBuses;
  for (const kind of eventStreamKinds) await bus?.ensureStream(kind);
  const notifier = (bus as EventBus).createInstanceNotifier("orders");
  await bus?.connected;
  await Promise.resolve();
  notifier.publish(randomUUID(), "8");
  const connection = await bus?.connected;
  await connection?.nats.flush();
  for (const kind of eventStreamKinds) {
    const { state } = (await connection?.manager.streams.info(bus?.streams[kind] ?? "")) ?? expect.unreachable();
    expect(state.messages).toBe(0);
  }
});

it("does not throw without a connection or after the bus is closed", async () => {
  const config = readConfigFromEnvironment(commonServiceConfigSchema, environment.variables);
  const bus = createEventBus(config, { name: "closed", log: createLogger({ name: "test", level: "silent" }) });
  const notifier = bus.createInstanceNotifier("orders");
  notifier.publish(randomUUID(), "before there is a connection");
  await bus.connected;
  await bus.close();
  expect(() => notifier.publish(randomUUID(), "9")).not.toThrow();
});
