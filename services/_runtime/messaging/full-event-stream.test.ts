import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, beforeAll, expect, it } from "vitest";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "../config/runtime-config.ts";
import { createLogger } from "../observability/logger.ts";
import { eventually } from "../testing/eventually.ts";
import { publishTestLocationUpdatedEvent } from "../testing/location-event-service.ts";
import { defineTestOrderEventService, publishTestOrderEvent } from "../testing/order-event-service.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { startTestService, type TestService } from "../testing/test-service.ts";
import { createEventBus, type EventBus } from "./event-bus.ts";
import { buildNatsConsumerName } from "./event-consumer.ts";
import { buildEventStreamNames, type EventStreamKind, eventStreamKinds } from "./event-streams.ts";
import { selectOutboxRowsOfStream } from "./outbox-relay.ts";

const megabyte = 1_000_000;
let environment: IsolatedTestEnvironment;
let service: TestService;
let connection: NatsConnection;
let streams: JetStreamManager["streams"];
let consumers: JetStreamManager["consumers"];
let names: Record<EventStreamKind, string>;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment({
    TILL_EVENT_STREAM_MAX_BYTES: String(2 * megabyte),
    ORDER_EVENT_STREAM_MAX_BYTES: String(2 * megabyte),
  });
  names = buildEventStreamNames(environment.namespace);
  service = await startTestService(defineTestOrderEventService(), environment);
  connection = await connect({ servers: environment.variables.NATS_URL ?? "" });
  ({ streams, consumers } = await jetstreamManager(connection));
});
afterAll(async () => {
  await connection?.close();
  await service?.stop();
  await environment?.remove();
});

/** Publishes an event that contains a text of the given size in bytes. Returns the location id of the event. */
const publishEventOfSize = (bytes: number) =>
  publishTestLocationUpdatedEvent(service.db, { timeZone: "x".repeat(bytes) });

const countOutbox = async () => (await service.db.sql`select 1 from outbox`).length;
const listEffects = async () =>
  (await service.db.sql<{ id: string }[]>`select location_id as id from effects`).map(({ id }) => id).sort();
const hasEffect = async (locationId: string) => (await listEffects()).includes(locationId);
const checkOutbox = () => service.running.optionalChecks.outbox?.();
const checkStreams = () => service.running.optionalChecks["event streams"]?.();

async function waitUntilFull(stream: string): Promise<void> {
  await eventually("the stream to reject events", async () => {
    await expect(checkOutbox()).rejects.toThrow(`${stream}: JetStreamApiError: maximum bytes exceeded`);
    return true;
  });
}

/** Deletes the handled events of a stream as if they expired, so that the relay does not publish them again. */
async function purgeHandledEvents(kind: EventStreamKind): Promise<void> {
  const consumer = buildNatsConsumerName("accounts", kind === "tills" ? "location.updated" : "order.call");
  const { ack_floor } = await consumers.info(names[kind], consumer);
  await streams.purge(names[kind], { seq: ack_floor.stream_seq + 1 });
  await service.db.sql`delete from sent_events where stream = ${kind} and stream_sequence <= ${ack_floor.stream_seq}`;
}

/** Deletes the handled events of a stream repeatedly, as if they expired, until the outbox is empty. */
async function purgeUntilOutboxIsEmpty(kind: EventStreamKind): Promise<void> {
  await eventually("events to leave the outbox", async () => {
    await purgeHandledEvents(kind);
    return (await countOutbox()) === 0;
  });
}

it("events wait in the outbox while their stream is full, and are handled when it has space again", async () => {
  const locationIds: string[] = [];
  for (let event = 0; event < 30; event += 1) locationIds.push(await publishEventOfSize(150_000));
  await waitUntilFull(names.tills);
  const { state, config } = await streams.info(names.tills);
  expect([config.max_bytes, state.bytes <= config.max_bytes]).toEqual([2 * megabyte, true]);
  expect(await countOutbox()).toBe(30 - state.messages);
  await expect(checkStreams()).rejects.toThrow(new RegExp(`^${names.tills} is 9\\d % full$`));
  // The service stays ready and still writes new events to the outbox.
  locationIds.push(await publishEventOfSize(10));
  expect(await service.running.checks.postgres?.()).toBeUndefined();
  const order = await publishTestOrderEvent(service.db);
  await eventually("the effect of an order event", () => hasEffect(order));

  await purgeUntilOutboxIsEmpty("tills");
  await eventually("every event to have its effect", async () => (await listEffects()).length === 32);
  expect(await listEffects()).toEqual([...locationIds, order].sort());
  await checkOutbox();
}, 240_000);

it("a full stream of order events delays no other events of the same service, and no order event is lost", async () => {
  await service.db.sql`delete from effects`;
  const orders: string[] = [];
  for (let event = 0; event < 30; event += 1)
    orders.push(await publishTestOrderEvent(service.db, { paddingBytes: 150_000 }));
  await waitUntilFull(names.orders);
  await expect(checkStreams()).rejects.toThrow(new RegExp(`^${names.orders} is 9\\d % full$`));
  // More rows than a batch are before the next event in the outbox.
  await service.db.sql`
    insert into outbox (id, type, location_id, body)
    select gen_random_uuid(), 'order.paid', gen_random_uuid(), repeat('x', 200000) from generate_series(1, 600)`;
  for (let event = 0; event < 5; event += 1) {
    const started = performance.now();
    const locationId = await publishEventOfSize(10);
    await eventually("the effect of the event", () => hasEffect(locationId));
    expect(performance.now() - started).toBeLessThan(2_000);
  }
  await service.db.sql`delete from outbox where type = 'order.paid'`;
  await purgeUntilOutboxIsEmpty("orders");
  await eventually("every order event to have its effect", async () => (await listEffects()).length === 35);
  expect((await listEffects()).filter((id) => orders.includes(id))).toEqual([...orders].sort());
  await checkOutbox();
}, 240_000);

it("a limit below the size of the stream discards no events", async () => {
  const config = readConfigFromEnvironment(commonServiceConfigSchema, {
    ...environment.variables,
    TILL_EVENT_STREAM_MAX_BYTES: String(megabyte),
  });
  const bus: EventBus = createEventBus(config, { name: "test", log: createLogger({ name: "test", level: "silent" }) });
  await purgeHandledEvents("tills");
  for (let event = 0; event < 10; event += 1) await publishEventOfSize(150_000);
  await eventually("events to be sent", async () => (await countOutbox()) === 0);
  const before = await streams.info(names.tills);
  expect(before.state.bytes).toBeGreaterThan(megabyte);
  await bus.ensureStream("tills");
  const { state, config: stored } = await streams.info(names.tills);
  expect([state.messages, stored.max_bytes]).toEqual([before.state.messages, 2 * megabyte]);
  await eventually("the stream to be empty", async () => {
    await purgeHandledEvents("tills");
    return (await streams.info(names.tills)).state.messages === 0;
  });
  await bus.ensureStream("tills");
  expect((await streams.info(names.tills)).config.max_bytes).toBe(megabyte);
  await bus.close();
});

it("an event that exceeds the maximum message size is rejected when it is published and blocks no other events", async () => {
  await expect(publishEventOfSize(1024 * 1024)).rejects.toThrow("location.updated exceeds");
  const next = await publishEventOfSize(10);
  await eventually("the effect of the next event", async () => (await listEffects()).includes(next));
});

it("reads the outbox of a stream with an index, however many events of the other stream wait", async () => {
  const plans: string[] = [];
  const rollback = new Error("rollback");
  const reading = service.db.sql.begin(async (tx) => {
    await tx`
      insert into outbox (id, type, body) select gen_random_uuid(), 'order.paid', 'x' from generate_series(1, 20000)`;
    await tx`insert into outbox (id, type, body) values (gen_random_uuid(), 'device.seen', 'x')`;
    for (const kind of eventStreamKinds) {
      const lines = await tx<{ "QUERY PLAN": string }[]>`
        explain (analyze, costs off) ${selectOutboxRowsOfStream(tx, kind)} limit 500`;
      plans.push(lines.map((line) => line["QUERY PLAN"]).join("\n"));
    }
    throw rollback;
  });
  await expect(reading).rejects.toBe(rollback);
  for (const plan of plans) {
    expect(plan).toMatch(/Scan (using|on) outbox_stream_position/);
    expect(plan).not.toMatch(/Filter|Seq Scan|outbox_position/);
  }
});
