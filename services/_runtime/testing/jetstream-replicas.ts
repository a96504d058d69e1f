import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

/** Where the copies of a stream are in a cluster. */
export interface StreamReplicaStatus {
  /** The server that leads it. */
  leader: string | undefined;
  /** Whether every other copy is there and has everything. */
  isFullyReplicated: boolean;
}

async function withJetStreamManager<T>(servers: string[], ask: (manager: JetStreamManager) => Promise<T>): Promise<T> {
  const connection = await connect({ servers, timeout: 5_000 });
  try {
    return await ask(await jetstreamManager(connection, { timeout: 5_000 }));
  } finally {
    await connection.close();
  }
}

/** Asks whichever of the servers answers. */
export function getStreamReplicaStatus(servers: string[], stream: string): Promise<StreamReplicaStatus> {
  return withJetStreamManager(servers, async (manager) => {
    const { cluster, config } = await manager.streams.info(stream);
    const others = cluster?.replicas ?? [];
    const areCurrent = others.every(({ current, offline }) => current && !offline);
    return { leader: cluster?.leader, isFullyReplicated: areCurrent && others.length === config.num_replicas - 1 };
  });
}

/** Rejects as long as the servers have not agreed on who leads them. */
export function assertClusterHasLeader(servers: string[]): Promise<boolean> {
  return withJetStreamManager(servers, async (manager) => (await manager.getAccountInfo()).limits !== undefined);
}
