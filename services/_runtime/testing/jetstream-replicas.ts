import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

/** The state of a stream's replicas in a NATS cluster. */
export interface JetStreamReplicaStatus {
  /** The name of the server that leads the stream. */
  leader: string | undefined;
  /** Whether all replicas are online and up to date. */
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

/** Returns the state of a stream's replicas. Sends the request to any available server. */
export function getJetStreamReplicaStatus(servers: string[], stream: string): Promise<JetStreamReplicaStatus> {
  return withJetStreamManager(servers, async (manager) => {
    const { cluster, config } = await manager.streams.info(stream);
    const others = cluster?.replicas ?? [];
    const areCurrent = others.every(({ current, offline }) => current && !offline);
    return { leader: cluster?.leader, isFullyReplicated: areCurrent && others.length === config.num_replicas - 1 };
  });
}

/** Rejects if the servers cannot be reached or have not yet elected a leader of the cluster. */
export function assertNatsClusterHasLeader(servers: string[]): Promise<boolean> {
  return withJetStreamManager(servers, async (manager) => (await manager.getAccountInfo()).limits !== undefined);
}
