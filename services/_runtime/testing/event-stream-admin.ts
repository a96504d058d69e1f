import { type ConsumerInfo, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, nanos } from "@nats-io/transport-node";
import postgres from "postgres";
import { sleep } from "../concurrency/sleep.ts";
import { buildEventStreamNames, type EventStreamKind, isMissingInJetStream } from "../messaging/event-streams.ts";
import { eventually } from "./eventually.ts";
import type { IsolatedTestEnvironment } from "./test-environment.ts";
import type { TestService } from "./test-service.ts";

/** Functions that check and change the event streams in a test's namespace. */
export interface TestEventStreamAdmin {
  /** Deletes all consumers, so that all services receive all events again. Returns the number of deleted consumers. */
  deleteConsumers(): Promise<number>;
  /** Returns whether the streams have at least `minConsumers` consumers, and all consumers have handled all events. */
  isFullyConsumed(minConsumers?: number): Promise<boolean>;
  /** Returns whether consumers have received all events, which may still be in progress. */
  isFullyDelivered(): Promise<boolean>;
  /** Lets consumers deliver at once what a dead process has not handled. Otherwise they wait for ten seconds. */
  expireDeliveries(): Promise<void>;
  /** Fills a stream with messages that no service consumes, until it accepts not even a small event. */
  fill(kind: EventStreamKind): Promise<void>;
  /** Deletes all events in a stream as if they expired, so that services do not publish them again. */
  purge(kind: EventStreamKind): Promise<void>;
  /** Deletes the streams, including all events and consumers. */
  delete(): Promise<void>;
  close(): Promise<void>;
}

export async function createTestEventStreamAdmin({
  variables,
  namespace,
}: IsolatedTestEnvironment): Promise<TestEventStreamAdmin> {
  const connection = await connect({ servers: variables.NATS_URL ?? "" });
  const manager = await jetstreamManager(connection);
  const names = buildEventStreamNames(namespace);
  const streams = Object.values(names);

  async function listConsumers(): Promise<ConsumerInfo[]> {
    const all: ConsumerInfo[] = [];
    for (const stream of streams)
      try {
        for await (const consumer of manager.consumers.list(stream))
          if (consumer.config.durable_name) all.push(consumer);
      } catch (error) {
        // A service creates only the streams that it uses.
        if (!isMissingInJetStream(error)) throw error;
      }
    return all;
  }

  return {
    async deleteConsumers() {
      const all = await listConsumers();
      for (const { stream_name, name } of all) await manager.consumers.delete(stream_name, name);
      return all.length;
    },
    async isFullyConsumed(minConsumers = 1) {
      const all = await listConsumers();
      return (
        all.length >= minConsumers &&
        all.every(({ num_pending, num_ack_pending }) => num_pending + num_ack_pending === 0)
      );
    },
    async isFullyDelivered() {
      return (await listConsumers()).every(({ num_pending }) => num_pending === 0);
    },
    async expireDeliveries() {
      // When its service starts again, each consumer gets its former configuration.
      for (const { stream_name, name } of await listConsumers())
        await manager.consumers.update(stream_name, name, { ack_wait: nanos(100) });
      // JetStream checks 100 ms after the change.
      await sleep(500);
    },
    async fill(kind) {
      const { config } = await manager.streams.info(names[kind]);
      const subject = (config.subjects[0] ?? "").replace(">", "test.none");
      const client = jetstream(connection);
      for (const bytes of [100_000, 10_000, 1_000, 10])
        for (let isFull = false; !isFull; )
          await client.publish(subject, new Uint8Array(bytes)).catch((error: unknown) => {
            if (!String(error).includes("maximum bytes exceeded")) throw error;
            isFull = true;
          });
    },
    async purge(kind) {
      const sql = postgres(variables.DATABASE_URL ?? "", { max: 1, onnotice: () => {} });
      const schemas = await sql<{ name: string }[]>`
        select schemaname as name from pg_tables
        where tablename = 'sent_events' and starts_with(schemaname, ${`${namespace}_`})`;
      for (const { name } of schemas) await sql`delete from ${sql(name)}.sent_events where stream = ${kind}`;
      await sql.end();
      await manager.streams.purge(names[kind]);
    },
    async delete() {
      for (const stream of streams)
        await manager.streams.delete(stream).catch((error) => {
          if (!isMissingInJetStream(error)) throw error;
        });
    },
    close: () => connection.close(),
  };
}

/** Resolves when a service has sent all events in its outbox and all consumers have handled all these events. */
export async function waitUntilEventsHandled(environment: IsolatedTestEnvironment, { db }: TestService): Promise<void> {
  const stream = await createTestEventStreamAdmin(environment);
  await eventually(
    "every event to be handled",
    async () => {
      const unsentRows = await db.sql`select 1 from outbox`;
      return unsentRows.length === 0 && (await stream.isFullyConsumed());
    },
    { timeoutSeconds: 60 },
  );
  await stream.close();
}

/** Resolves when a service has sent all events in its outbox and all consumers have received all these events. */
export async function waitUntilEventsDelivered(
  environment: IsolatedTestEnvironment,
  { db }: TestService,
): Promise<void> {
  const stream = await createTestEventStreamAdmin(environment);
  await eventually("every event to be delivered", async () => {
    const unsentRows = await db.sql`select 1 from outbox`;
    return unsentRows.length === 0 && (await stream.isFullyDelivered());
  });
  await stream.close();
}
