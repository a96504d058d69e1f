import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

/** The state of a stream's replicas in a cluster. */
export interface StreamReplicaStatus {
  /** The leader of the stream. */
  leader: string | undefined;
  /** Whether every replica is online and current. */
  isFullyReplicated: boolean;
}

async function withJetStreamManager<T>(servers: string[], work: (manager: JetStreamManager) => Promise<T>): Promise<T> {
  const connection = await connect({ servers, timeout: 5_000 });
  try {
    return await work(await jetstreamManager(connection, { timeout: 5_000 }));
  } finally {
    await connection.close();
  }
}

/** Returns the state of a stream's replicas, from any of the servers. */
export function getStreamReplicaStatus(servers: string[], stream: string): Promise<StreamReplicaStatus> {
  return withJetStreamManager(servers, async (manager) => {
    const { cluster, config } = await manager.streams.info(stream);
    const others = cluster?.replicas ?? [];
    const areCurrent = others.every(({ current, offline }) => current && !offline);
    return { leader: cluster?.leader, isFullyReplicated: areCurrent && others.length === config.num_replicas - 1 };
  });
}

/** Rejects while the servers have not elected a leader. */
export function assertClusterHasLeader(servers: string[]): Promise<boolean> {
  return withJetStreamManager(servers, async (manager) => (await manager.getAccountInfo()).limits !== undefined);
}
