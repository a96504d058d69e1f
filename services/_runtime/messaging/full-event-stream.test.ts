import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLogger } from "../observability/logger.ts";
import { eventually } from "../testing/eventually.ts";
import { defineTestLocationEventService, publishTestLocationUpdatedEvent } from "../testing/location-event-service.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { startTestService, type TestService } from "../testing/test-service.ts";
import { createEventBus } from "./event-bus.ts";

const megabyte = 1_000_000;
let environment: IsolatedTestEnvironment;
let service: TestService;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment({ EVENT_STREAM_MAX_BYTES: String(2 * megabyte) });
  service = await startTestService(defineTestLocationEventService(), environment);
});
afterAll(async () => {
  await service?.stop();
  await environment?.remove();
});

/** Publishes an event that contains a text of the given size in bytes. Returns the location id of the event. */
const publishEventOfSize = (bytes: number) =>
  publishTestLocationUpdatedEvent(service.db, { timeZone: "x".repeat(bytes) });

const countOutbox = async () => (await service.db.sql`select 1 from outbox`).length;
const listEffects = async () =>
  (await service.db.sql<{ id: string }[]>`select location_id as id from effects`).map(({ id }) => id).sort();

it("events wait in the outbox while the stream is full, and are handled when it has space again", async () => {
  const locationIds: string[] = [];
  for (let event = 0; event < 30; event += 1) locationIds.push(await publishEventOfSize(150_000));
  await eventually("the stream to reject events", async () => {
    await expect(service.running.optionalChecks.outbox?.()).rejects.toThrow("maximum bytes exceeded");
    return true;
  });
  const connection = await connect({ servers: environment.variables.NATS_URL ?? "" });
  const { streams } = await jetstreamManager(connection);
  const stream = `${environment.namespace}_events`;
  const { state, config } = await streams.info(stream);
  expect([config.max_bytes, state.bytes <= config.max_bytes]).toEqual([2 * megabyte, true]);
  expect(await countOutbox()).toBe(30 - state.messages);
  // The service stays ready and still writes new events to the outbox.
  locationIds.push(await publishEventOfSize(10));
  expect(await service.running.checks.postgres?.()).toBeUndefined();

  for (let attempt = 0; (await countOutbox()) > 0 && attempt < 10; attempt += 1) {
    const before = await countOutbox();
    await eventually(
      "the effects of the sent events",
      async () => (await listEffects()).length === locationIds.length - before,
    );
    // Deletes all events in the stream, to simulate that they have expired.
    await streams.purge(stream);
    await eventually("events to leave the outbox", async () => (await countOutbox()) < before);
  }
  await eventually("every event to have its effect", async () => (await listEffects()).length === locationIds.length);
  expect(await listEffects()).toEqual([...locationIds].sort());
  await service.running.optionalChecks.outbox?.();
  await connection.close();
}, 60_000);

it("a limit below the size of the stream discards no events", async () => {
  const log = createLogger({ name: "test", level: "silent" });
  const { NATS_URL = "", NAMESPACE = "" } = environment.variables;
  const bus = createEventBus(
    { NATS_URL, NAMESPACE, EVENT_STREAM_REPLICAS: 1, EVENT_STREAM_MAX_BYTES: megabyte },
    { name: "test", log },
  );
  const { manager } = await bus.connected;
  await manager.streams.purge(bus.stream);
  for (let event = 0; event < 10; event += 1) await publishEventOfSize(150_000);
  await eventually("events to be sent", async () => (await countOutbox()) === 0);
  const before = await manager.streams.info(bus.stream);
  expect(before.state.bytes).toBeGreaterThan(megabyte);
  await bus.ensureStream();
  const { state, config } = await manager.streams.info(bus.stream);
  expect([state.messages, config.max_bytes]).toEqual([before.state.messages, 2 * megabyte]);
  await manager.streams.purge(bus.stream);
  await bus.ensureStream();
  expect((await manager.streams.info(bus.stream)).config.max_bytes).toBe(megabyte);
  await bus.close();
});

it("an event that exceeds the maximum message size is rejected when it is published and blocks no other events", async () => {
  await expect(publishEventOfSize(1024 * 1024)).rejects.toThrow("location.updated exceeds");
  const next = await publishEventOfSize(10);
  await eventually("the effect of the next event", async () => (await listEffects()).includes(next));
});
