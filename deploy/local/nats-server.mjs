import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { writeCertificate } from "./certificate-files.mjs";
import { images, runContainer } from "./docker.mjs";
import { Failure } from "./failure.mjs";
import { findServers } from "./find-servers.mjs";
import { runServer } from "./private-server.mjs";
import { hearFrom } from "./probe.mjs";

/**
 * Starts a private NATS with JetStream on file storage.
 * @param {import("./servers.d.mts").NatsOptions} options
 * @returns {Promise<import("./servers.d.mts").RunningServer>}
 * @throws {Failure} when it should be of a cluster, and there are only containers, which do not share their ports
 */
export async function startNats({ dataFolder, port, cluster, config = "", tls, log = () => {} }) {
  const folder = resolve(dataFolder);
  const { nats: means } = await findServers(["nats"]);
  if (means.by === "docker" && cluster) throw new Failure("A cluster of NATS needs nats-server on this machine.");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const plan = {
    name: "NATS",
    folder,
    port,
    log,
    stopSignal: /** @type {const} */ ("SIGTERM"),
    isReady: async (/** @type {number} */ onPort) =>
      (await hearFrom({ port: onPort, until: /"jetstream":\s*true/ })) !== undefined,
  };
  const server =
    means.by === "docker"
      ? await runContainer(plan, {
          image: images.nats,
          dataPath: "/data",
          containerPort: 4222,
          args: ["--config", writeConfig(folder, { listen: "0.0.0.0:4222", store: "/data", config, tls })],
        })
      : await runServer({
          ...plan,
          launch: (onPort) => ({
            command: /** @type {string} */ (means.binaries[0]?.path),
            args: ["--config", writeConfig(folder, { ...ownPlace(folder, onPort), cluster, config, tls })],
          }),
        });
  return { ...server, url: `nats://127.0.0.1:${server.port}` };
}

/**
 * @param {string} folder
 * @param {number} port
 */
function ownPlace(folder, port) {
  const store = join(folder, "data");
  mkdirSync(store, { recursive: true });
  return { listen: `127.0.0.1:${port}`, store };
}

/**
 * @param {string} folder
 * @param {{ listen: string, store: string } & Pick<import("./servers.d.mts").NatsOptions, "cluster" | "config" | "tls">} what
 * @returns {string} the file
 */
function writeConfig(folder, { listen, store, cluster, config = "", tls }) {
  const file = join(folder, "nats.conf");
  const own = `listen: "${listen}"\njetstream {\n  store_dir: ${JSON.stringify(store)}\n  max_file: 1T\n}\n`;
  const parts = [own, cluster && clusterConfig(cluster), tls && tlsConfig(folder, tls), config];
  writeFileSync(file, parts.filter(Boolean).join(""));
  return file;
}

/**
 * @param {NonNullable<import("./servers.d.mts").NatsOptions["cluster"]>} cluster
 * @returns {string}
 */
function clusterConfig({ name, port, others }) {
  const routes = others.map((other) => `"nats-route://127.0.0.1:${other}"`).join(", ");
  return `server_name: ${name}\ncluster {\n  name: pragma\n  listen: "127.0.0.1:${port}"\n  routes: [${routes}]\n}\n`;
}

/**
 * @param {string} folder
 * @param {import("./servers.d.mts").ServerCertificate} certificate
 * @returns {string}
 */
function tlsConfig(folder, certificate) {
  const { ca, cert, key } = writeCertificate(folder, certificate);
  return `tls {\n  cert_file: "${cert}"\n  key_file: "${key}"\n  ca_file: "${ca}"\n  verify: true\n}\n`;
}
