import { type ConsumerInfo, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import type { TestEnvironment } from "./test-environment.ts";

/** The event stream of a test's namespace, to be looked at and tampered with. */
export interface StreamControl {
  /** Deletes what the server remembers of how far each service has read: all are given everything again. Tells how many. */
  forgetReaders(): Promise<number>;
  /** Whether services read the stream, that many at least, and have handled all of it. */
  isRead(readers?: number): Promise<boolean>;
  /** Deletes the stream with everything in it. */
  delete(): Promise<void>;
  close(): Promise<void>;
}

export async function openStreamControl({ variables, namespace }: TestEnvironment): Promise<StreamControl> {
  const connection = await connect({ servers: variables.NATS_URL ?? "" });
  const manager = await jetstreamManager(connection);
  const stream = `${namespace}_events`;

  async function listReaders(): Promise<ConsumerInfo[]> {
    const all: ConsumerInfo[] = [];
    for await (const consumer of manager.consumers.list(stream)) if (consumer.config.durable_name) all.push(consumer);
    return all;
  }

  return {
    async forgetReaders() {
      const all = await listReaders();
      for (const { name } of all) await manager.consumers.delete(stream, name);
      return all.length;
    },
    async isRead(readers = 1) {
      const all = await listReaders();
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
