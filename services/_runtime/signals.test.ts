import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readConfig, runtimeConfig } from "./config.ts";
import { type EventBus, openEventBus } from "./event-bus.ts";
import { createLogger } from "./logger.ts";
import { eventually } from "./testing/eventually.ts";
import { createTestEnvironment, type TestEnvironment } from "./testing/test-environment.ts";

let environment: TestEnvironment;
let buses: EventBus[];

beforeAll(async () => {
  environment = await createTestEnvironment();
  const config = readConfig(runtimeConfig, environment.variables);
  const log = createLogger({ name: "test", level: "silent" });
  buses = ["one", "other"].map((name) => openEventBus(config, { name, log }));
  await Promise.all(buses.map((bus) => bus.connected));
});
afterAll(async () => {
  await Promise.all(buses.map((bus) => bus.close()));
  await environment.remove();
});

it("tells every instance, this one among them, of its topic only", async () => {
  const [one, other] = buses.map((bus) => bus.openSignals("orders"));
  const stranger = (buses[1] as EventBus).openSignals("tills");
  const heard: string[] = [];
  one?.listen((locationId, text) => heard.push(`one ${locationId} ${text}`));
  other?.listen((locationId, text) => heard.push(`other ${locationId} ${text}`));
  stranger.listen((_, text) => heard.push(`stranger ${text}`));
  const locationId = randomUUID();
  // Told again until it is heard: nobody hears what was sent before the server knew of them.
  await eventually("both to hear", () => {
    one?.send(locationId, "7");
    return ["one", "other"].every((who) => heard.includes(`${who} ${locationId} 7`));
  });
  expect(heard.filter((line) => line.startsWith("stranger"))).toEqual([]);
});

it("keeps nothing: the stream does not take signals", async () => {
  const [bus] = buses;
  await bus?.ensureStream();
  const signals = (bus as EventBus).openSignals("orders");
  await bus?.connected;
  await Promise.resolve();
  signals.send(randomUUID(), "8");
  const connection = await bus?.connected;
  await connection?.nats.flush();
  const { state } = (await connection?.manager.streams.info(bus?.stream ?? "")) ?? expect.unreachable();
  expect(state.messages).toBe(0);
});

it("says nothing, and does not throw, once the bus is closed", async () => {
  const config = readConfig(runtimeConfig, environment.variables);
  const bus = openEventBus(config, { name: "closed", log: createLogger({ name: "test", level: "silent" }) });
  const signals = bus.openSignals("orders");
  signals.send(randomUUID(), "before there is a connection");
  await bus.connected;
  await bus.close();
  expect(() => signals.send(randomUUID(), "9")).not.toThrow();
});
