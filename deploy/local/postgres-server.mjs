import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { writeCertificate } from "./certificate-files.mjs";
import { folderReachableBy } from "./data-folder.mjs";
import { images, runContainer } from "./docker.mjs";
import { findServers } from "./find-servers.mjs";
import { keptFile } from "./kept-file.mjs";
import { clearStaleLock, createCluster, programsFor } from "./postgres-cluster.mjs";
import { runServer } from "./private-server.mjs";
import { hearFrom } from "./probe.mjs";
import { unprivilegedUser } from "./unprivileged-user.mjs";

const settings = {
  max_connections: 300,
  shared_buffers: "256MB",
  effective_cache_size: "2GB",
  max_wal_size: "1GB",
  timezone: "UTC",
  log_timezone: "UTC",
};
/** What the workers of a killed server hold until they notice. */
const memoryInUse = /pre-existing shared memory block/;
const memoryReleasedWithinMs = 10_000;
const withoutDurability = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };

/**
 * Starts a private PostgreSQL with the database `pragma` (UTF-8), never as root.
 * @param {import("./servers.d.mts").PostgresOptions} options
 * @returns {Promise<import("./servers.d.mts").RunningServer>}
 */
export async function startPostgres({ dataFolder, port, durable = true, log = () => {}, tls }) {
  const folder = resolve(dataFolder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { postgres: means } = await findServers(["postgres"]);
  const password = keptFile(join(folder, "password"), () => randomBytes(24).toString("hex"));
  const parameters = { ...settings, ...(durable ? {} : withoutDurability) };
  const plan = {
    name: "PostgreSQL",
    folder,
    port,
    log,
    stopSignal: /** @type {const} */ ("SIGINT"),
    isReady: isAccepting,
  };
  const server =
    means.by === "docker"
      ? await runContainer(plan, container(folder, { password, parameters, tls }))
      : await runProgram({ binaries: means.binaries, plan, password, parameters, durable, tls });
  return { ...server, url: `postgres://pragma:${password}@127.0.0.1:${server.port}/pragma` };
}

/**
 * @param {object} program
 * @param {import("./binaries.mjs").Binary[]} program.binaries
 * @param {Omit<import("./private-server.mjs").ServerPlan, "launch">} program.plan
 * @param {string} program.password
 * @param {Record<string, string | number>} program.parameters
 * @param {boolean} program.durable
 * @param {import("./servers.d.mts").ServerCertificate | undefined} program.tls
 */
async function runProgram({ binaries, plan, password, parameters, durable, tls }) {
  const user = unprivilegedUser();
  const place = user === undefined ? plan.folder : folderReachableBy(user, plan.folder, plan.log);
  const cluster = join(place, "cluster");
  const programs = programsFor(binaries, cluster);
  if (!existsSync(cluster)) await createCluster({ cluster, programs, user, password, durable });

  /** @param {number} port */
  const launch = (port) => {
    clearStaleLock(cluster);
    const all = {
      listen_addresses: "127.0.0.1",
      port,
      unix_socket_directories: "",
      ...parameters,
      ...tlsParameters(cluster, tls, user),
    };
    const args = ["-D", cluster, ...asOptions(all)];
    return { command: join(programs, "postgres"), args, ...(user && { user: { uid: user.uid, gid: user.gid } }) };
  };
  const deadline = Date.now() + memoryReleasedWithinMs;
  for (;;) {
    try {
      return await runServer({ ...plan, launch });
    } catch (error) {
      if (!memoryInUse.test(String(error)) || Date.now() > deadline) throw error;
      await sleep(100);
    }
  }
}

/**
 * @param {string} cluster
 * @param {import("./servers.d.mts").ServerCertificate | undefined} certificate
 * @param {import("./unprivileged-user.mjs").SystemUser | undefined} user
 * @returns {Record<string, string>}
 */
function tlsParameters(cluster, certificate, user) {
  if (certificate === undefined) return {};
  const { ca, cert, key } = writeCertificate(cluster, certificate, user);
  return { ssl: "on", ssl_ca_file: ca, ssl_cert_file: cert, ssl_key_file: key };
}

/** Gives the server's user copies of the certificate's files, which it cannot read, and does what the image does. */
const withOwnCertificate =
  'mkdir /certificate && cp "$0"/tls-*.pem /certificate && chown -R postgres /certificate && exec docker-entrypoint.sh "$@"';

/**
 * @param {string} folder
 * @param {object} server
 * @param {string} server.password
 * @param {Record<string, string | number>} server.parameters
 * @param {import("./servers.d.mts").ServerCertificate | undefined} server.tls
 */
function container(folder, { password, parameters, tls }) {
  const files = tlsParameters(folder, tls, undefined);
  const inContainer = Object.entries(files).map(([key, file]) => [key, file.replace(folder, "/certificate")]);
  const command = ["postgres", ...asOptions({ ...parameters, ...Object.fromEntries(inContainer) })];
  return {
    image: images.postgres,
    dataPath: "/var/lib/postgresql/data",
    containerPort: 5432,
    env: { POSTGRES_USER: "pragma", POSTGRES_PASSWORD: password, POSTGRES_DB: "pragma" },
    ...(tls ? { entrypoint: "sh", args: ["-c", withOwnCertificate, folder, ...command] } : { args: command }),
  };
}

/**
 * @param {Record<string, string | number>} parameters
 * @returns {string[]}
 */
function asOptions(parameters) {
  return Object.entries(parameters).flatMap(([key, value]) => ["-c", `${key}=${value}`]);
}

/**
 * Whether it asks for a password. While it recovers it answers an error instead.
 * @param {number} port
 * @returns {Promise<boolean>}
 */
async function isAccepting(port) {
  const body = Buffer.from("\0\x03\0\0user\0pragma\0database\0pragma\0\0", "latin1");
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return (await hearFrom({ port, greeting: Buffer.concat([length, body]), until: /^R/ })) !== undefined;
}
