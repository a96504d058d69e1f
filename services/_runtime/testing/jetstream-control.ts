import { type ConsumerInfo, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import type { TestEnvironment } from "./test-environment.ts";

/** The event stream of a test's namespace, to be looked at and tampered with. */
export interface EventStreamControl {
  /** Deletes what the server remembers of how far each service has read: all are given everything again. Tells how many. */
  deleteConsumers(): Promise<number>;
  /** Whether services read the stream, that many at least, and have handled all of it. */
  isFullyConsumed(readers?: number): Promise<boolean>;
  /** Deletes the stream with everything in it. */
  delete(): Promise<void>;
  close(): Promise<void>;
}

export async function createEventStreamControl({ variables, namespace }: TestEnvironment): Promise<EventStreamControl> {
  const connection = await connect({ servers: variables.NATS_URL ?? "" });
  const manager = await jetstreamManager(connection);
  const stream = `${namespace}_events`;

  async function listConsumers(): Promise<ConsumerInfo[]> {
    const all: ConsumerInfo[] = [];
    for await (const consumer of manager.consumers.list(stream)) if (consumer.config.durable_name) all.push(consumer);
    return all;
  }

  return {
    async deleteConsumers() {
      const all = await listConsumers();
      for (const { name } of all) await manager.consumers.delete(stream, name);
      return all.length;
    },
    async isFullyConsumed(readers = 1) {
      const all = await listConsumers();
      return (
        all.length >= readers && all.every(({ num_pending, num_ack_pending }) => num_pending + num_ack_pending === 0)
      );
    },
    async delete() {
      await manager.streams.delete(stream);
    },
    close: () => connection.close(),
  };
}
