import { eventually } from "@pragma/runtime/testing/eventually";
import { expectCluster, findPlaces } from "@pragma/runtime/testing/stream-places";
import { freePort } from "../../deploy/local/free-port.js";
import { type ReachableServer, startNats, temporaryDataFolder } from "../../deploy/local/servers.js";

/** Three NATS servers that keep three copies of everything. */
export interface NatsCluster {
  /** Names all of them. */
  url: string;
  /** Kills the one that leads a stream, as a power cut; tells its name. */
  killLeaderOf(stream: string): Promise<string>;
  /** Starts again what was killed, and waits until it has caught up with the others. */
  mend(stream: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startNatsCluster(): Promise<NatsCluster> {
  const folder = temporaryDataFolder("cluster");
  const names = ["n1", "n2", "n3"];
  const routes = await Promise.all(names.map(() => freePort()));
  const servers = new Map<string, ReachableServer>();
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
  await eventually("the cluster to be one", () => expectCluster(addresses));

  return {
    url,
    async killLeaderOf(stream) {
      const leader = (await findPlaces(addresses, stream)).leader ?? "n1";
      await servers.get(leader)?.kill();
      killed = leader;
      return leader;
    },
    async mend(stream) {
      if (killed === undefined) return;
      await start(killed, servers.get(killed)?.port);
      killed = undefined;
      await eventually("all copies to be current", async () => (await findPlaces(addresses, stream)).isWhole, {
        withinSeconds: 60,
      });
    },
    async stop() {
      await Promise.all([...servers.values()].map((server) => server.stop()));
    },
  };
}
