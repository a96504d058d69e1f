import { eventually } from "@pragma/runtime/testing/eventually";
import { assertNatsClusterHasLeader, getJetStreamReplicaStatus } from "@pragma/runtime/testing/jetstream-replicas";
import { findFreePort } from "../../deploy/local/free-port.js";
import { createTemporaryDataFolder, type StartedLocalServer, startNatsServer } from "../../deploy/local/servers.js";

/** A cluster of three NATS servers. If a stream has three replicas, each server stores one of them. */
export interface TestNatsCluster {
  /** The URLs of all servers, separated by commas. */
  url: string;
  /** Kills the server that leads a stream, without a graceful shutdown. Returns the name of the server. */
  killStreamLeader(stream: string): Promise<string>;
  /** Restarts the killed server, and waits until all replicas of `stream` are up to date. */
  restartKilledServer(stream: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startTestNatsCluster(): Promise<TestNatsCluster> {
  const folder = createTemporaryDataFolder("cluster");
  const names = ["n1", "n2", "n3"];
  const routes = await Promise.all(names.map(() => findFreePort()));
  const servers = new Map<string, StartedLocalServer>();
  let killed: string | undefined;

  async function start(name: string, port?: number): Promise<void> {
    const route = routes[names.indexOf(name)] ?? 0;
    const others = routes.filter((each) => each !== route).map((each) => `"nats-route://127.0.0.1:${each}"`);
    const config =
      `server_name: ${name}\n` +
      `cluster {\n  name: pragma\n  listen: "127.0.0.1:${route}"\n  routes: [${others.join(", ")}]\n}\n`;
    const fixedPort = port === undefined ? {} : { port };
    servers.set(name, await startNatsServer({ dataFolder: `${folder}/${name}`, config, ...fixedPort }));
  }
  await Promise.all(names.map((name) => start(name)));
  const addresses = [...servers.values()].map(({ port }) => `127.0.0.1:${port}`);
  const url = `nats://${addresses.join(",")}`;

  // Streams can be created only after the servers have elected a leader.
  await eventually("the cluster to have a leader", () => assertNatsClusterHasLeader(addresses));

  return {
    url,
    async killStreamLeader(stream) {
      const leader = (await getJetStreamReplicaStatus(addresses, stream)).leader ?? "n1";
      await servers.get(leader)?.kill();
      killed = leader;
      return leader;
    },
    async restartKilledServer(stream) {
      if (killed === undefined) return;
      await start(killed, servers.get(killed)?.port);
      killed = undefined;
      await eventually(
        "all replicas to be up to date",
        async () => (await getJetStreamReplicaStatus(addresses, stream)).isFullyReplicated,
        {
          timeoutSeconds: 60,
        },
      );
    },
    async stop() {
      await Promise.all([...servers.values()].map((server) => server.stop()));
    },
  };
}
