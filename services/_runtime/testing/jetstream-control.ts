import { type ConsumerInfo, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import type { TestEnvironment } from "./test-environment.ts";

/** Inspects and manipulates the event stream of a test's namespace. */
export interface TestJetStreamControl {
  /** Deletes all consumers, so that every service receives all events again. Returns their number. */
  deleteConsumers(): Promise<number>;
  /** Whether at least `minConsumers` services consume the stream and have handled all events. */
  isFullyConsumed(minConsumers?: number): Promise<boolean>;
  /** Deletes the stream with all its events. */
  delete(): Promise<void>;
  close(): Promise<void>;
}

export async function createEventStreamControl({
  variables,
  namespace,
}: TestEnvironment): Promise<TestJetStreamControl> {
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
    async isFullyConsumed(minConsumers = 1) {
      const all = await listConsumers();
      return (
        all.length >= minConsumers &&
        all.every(({ num_pending, num_ack_pending }) => num_pending + num_ack_pending === 0)
      );
    },
    async delete() {
      await manager.streams.delete(stream);
    },
    close: () => connection.close(),
  };
}
