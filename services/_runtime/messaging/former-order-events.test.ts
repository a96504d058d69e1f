import { randomUUID } from "node:crypto";
import {
  AckPolicy,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
} from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLogger } from "../observability/logger.ts";
import { eventually } from "../testing/eventually.ts";
import {
  buildTestOrderCallData,
  defineTestOrderEventService,
  publishTestOrderEvent,
} from "../testing/order-event-service.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { startTestService, type TestService } from "../testing/test-service.ts";
import { buildEventStreamNames } from "./event-streams.ts";
import { removeFormerOrderEvents } from "./former-order-events.ts";

const durable = "accounts-order-call";
const former = { max_bytes: 3_000_000, max_age: 14 * 86_400e9, discard: "new" as const };
let environment: IsolatedTestEnvironment;
let service: TestService;
let connection: NatsConnection;
let manager: JetStreamManager;
let client: JetStreamClient;
let tills: string;
let orders: string;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment({ TILL_EVENT_STREAM_MAX_BYTES: "1000000" });
  ({ tills, orders } = buildEventStreamNames(environment.namespace));
  connection = await connect({ servers: environment.variables.NATS_URL ?? "" });
  manager = await jetstreamManager(connection);
  client = jetstream(connection);
});
afterAll(async () => {
  await connection?.close();
  await service?.stop();
  await environment?.remove();
});

/** Creates or updates the stream as version 1.0 does when it starts. */
const ensureFormerStream = async () => {
  const subjects = [`${environment.namespace}.>`];
  await manager.streams
    .update(tills, { subjects, ...former })
    .catch(() => manager.streams.add({ name: tills, subjects, storage: "file", ...former }));
};

/** Publishes an event as version 1.0 does. Returns its location id. */
async function publishAsVersion10({ id = randomUUID() as string, paddingBytes = 0 } = {}): Promise<string> {
  const locationId = randomUUID();
  const time = new Date().toISOString();
  const data = { ...buildTestOrderCallData(locationId), padding: "x".repeat(paddingBytes) };
  const envelope = { specversion: "1.0", id, type: "order.call", source: "/pragma", time, subject: locationId, data };
  await client.publish(`${environment.namespace}.order.call.${locationId}`, JSON.stringify(envelope), { msgID: id });
  return locationId;
}

const listEffects = async () =>
  (await service.db.sql<{ id: string }[]>`select location_id as id from effects`).map(({ id }) => id).sort();

it("handles the order events that version 1.0 has left in its stream, and those that it still publishes", async () => {
  await ensureFormerStream();
  await manager.consumers.add(tills, {
    durable_name: durable,
    ack_policy: AckPolicy.Explicit,
    filter_subject: `${environment.namespace}.order.call.>`,
  });
  // Version 1.0 has handled these events. They are larger than the new maximum size of the stream.
  for (let event = 0; event < 10; event += 1) await publishAsVersion10({ paddingBytes: 150_000 });
  const consumer = await client.consumers.get(tills, durable);
  for await (const message of await consumer.fetch({ max_messages: 10 })) await message.ackAck();
  const waiting = [await publishAsVersion10(), await publishAsVersion10()];

  service = await startTestService(defineTestOrderEventService(), environment);
  await eventually("the effects of the waiting events", async () => (await listEffects()).length === 2);
  expect(await listEffects()).toEqual([...waiting].sort());

  const duringUpgrade = await publishAsVersion10();
  const published = await publishTestOrderEvent(service.db);
  await eventually("the effects of both versions", async () => (await listEffects()).length === 4);
  expect(await listEffects()).toEqual([...waiting, duringUpgrade, published].sort());
  expect((await manager.streams.info(orders)).state.messages).toBe(1);
});

it("deletes the order events that version 1.0 has handled, so that the stream has room for other events", async () => {
  const { state, config } = await manager.streams.info(tills);
  expect(config.max_bytes).toBe(1_000_000);
  expect(state.messages).toBeLessThanOrEqual(3);
});

it("handles an event once that a relay of each version has published", async () => {
  const { db, running, stop } = service;
  await db.sql`delete from effects`;
  await running.stop();
  await publishTestOrderEvent(db);
  const [row] = await db.sql<
    { id: string; body: string; locationId: string }[]
  >`select id, body, location_id from outbox`;
  const { id, body, locationId } = row ?? expect.unreachable();
  await client.publish(`${environment.namespace}.order.call.${locationId}`, body, { msgID: id });
  await stop();
  service = await startTestService(defineTestOrderEventService(), environment);
  await service.waitForEmptyOutbox();
  for (const stream of [tills, orders])
    await eventually("the event to be handled", async () => {
      const { num_pending, num_ack_pending } = await manager.consumers.info(stream, durable);
      return num_pending + num_ack_pending === 0;
    });
  expect(await listEffects()).toEqual([locationId]);
});

it("lets an instance of version 1.0 start again, which publishes to its stream and consumes from it", async () => {
  await ensureFormerStream();
  await service.running.stop();
  const id = randomUUID();
  await publishAsVersion10({ id });
  const consumer = await client.consumers.get(tills, durable);
  const ids: string[] = [];
  for await (const message of await consumer.fetch({ max_messages: 1 })) {
    ids.push((message.json() as { id: string }).id);
    await message.ackAck();
  }
  expect(ids).toEqual([id]);
});

/** The options of a stream that is more than half full, so that handled events are deleted. */
const removalOptions = (daysFromNow: number) => ({
  namespace: environment.namespace,
  maxBytes: 1,
  log: createLogger({ name: "test", level: "silent" }),
  now: Date.now() + daysFromNow * 86_400_000,
});

it("keeps events that wait for a consumer, and its consumers for the first two weeks", async () => {
  const waiting = await publishAsVersion10();
  await removeFormerOrderEvents(connection, removalOptions(13));
  const { state } = await manager.streams.info(tills, { subjects_filter: ">" });
  expect(Object.keys(state.subjects ?? {})).toEqual([`${environment.namespace}.order.call.${waiting}`]);
  expect((await manager.consumers.info(tills, durable)).num_pending).toBe(1);
});

it("deletes the consumers of version 1.0 after two weeks, once they have handled everything", async () => {
  await removeFormerOrderEvents(connection, removalOptions(15));
  const consumer = await client.consumers.get(tills, durable);
  for await (const message of await consumer.fetch({ max_messages: 1 })) await message.ackAck();
  await removeFormerOrderEvents(connection, removalOptions(13));
  expect((await manager.consumers.info(tills, durable)).num_pending).toBe(0);
  await removeFormerOrderEvents(connection, removalOptions(15));
  await expect(manager.consumers.info(tills, durable)).rejects.toThrow("consumer not found");
});

it("publishes order events to the stream of version 1.0, and consumes them there, while they are not separate", async () => {
  await service.stop();
  const variables = { ...environment.variables, SEPARATE_ORDER_EVENTS: "false" };
  service = await startTestService(defineTestOrderEventService(), { ...environment, variables });
  await service.db.sql`delete from effects`;
  const before = (await manager.streams.info(orders)).state.last_seq;
  const locationId = await publishTestOrderEvent(service.db);
  await eventually("the effect of the event", async () => (await listEffects()).length === 1);
  expect(await listEffects()).toEqual([locationId]);
  const subject = `${environment.namespace}.order.call.${locationId}`;
  const { state } = await manager.streams.info(tills, { subjects_filter: subject });
  expect(state.subjects).toEqual({ [subject]: 1 });
  expect((await manager.streams.info(orders)).state.last_seq).toBe(before);
});
