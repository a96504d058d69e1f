import { eventually } from "@pragma/runtime/testing/eventually";
import { assertClusterHasLeader, getStreamReplicaStatus } from "@pragma/runtime/testing/jetstream-replicas";
import { findFreePort } from "../../deploy/local/free-port.js";
import { createTemporaryDataFolder, type StartedServer, startNats } from "../../deploy/local/servers.js";

/** Three NATS servers that keep three copies of everything. */
export interface NatsCluster {
  /** Names all of them. */
  url: string;
  /** Kills the one that leads a stream, as a power cut; tells its name. */
  killStreamLeader(stream: string): Promise<string>;
  /** Starts again what was killed, and waits until it has caught up with the others. */
  restartKilledServer(stream: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startNatsCluster(): Promise<NatsCluster> {
  const folder = createTemporaryDataFolder("cluster");
  const names = ["n1", "n2", "n3"];
  const routes = await Promise.all(names.map(() => findFreePort()));
  const servers = new Map<string, StartedServer>();
  let killed: string | undefined;

  async function start(name: string, port?: number): Promise<void> {
    const own = routes[names.indexOf(name)] ?? 0;
    const others = routes.filter((route) => route !== own).map((route) => `"nats-route://127.0.0.1:${route}"`);
    const config =
      `server_name: ${name}\n` +
      `cluster {\n  name: pragma\n  listen: "127.0.0.1:${own}"\n  routes: [${others.join(", ")}]\n}\n`;
    const place = port === undefined ? {} : { port };
    servers.set(name, await startNats({ dataFolder: `${folder}/${name}`, config, ...place }));
  }
  await Promise.all(names.map((name) => start(name)));
  const addresses = [...servers.values()].map(({ port }) => `127.0.0.1:${port}`);
  const url = `nats://${addresses.join(",")}`;

  // Servers that have just started have yet to agree on who leads them.
  await eventually("the cluster to be one", () => assertClusterHasLeader(addresses));

  return {
    url,
    async killStreamLeader(stream) {
      const leader = (await getStreamReplicaStatus(addresses, stream)).leader ?? "n1";
      await servers.get(leader)?.kill();
      killed = leader;
      return leader;
    },
    async restartKilledServer(stream) {
      if (killed === undefined) return;
      await start(killed, servers.get(killed)?.port);
      killed = undefined;
      await eventually(
        "all copies to be current",
        async () => (await getStreamReplicaStatus(addresses, stream)).isFullyReplicated,
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
