import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { writeCertificate } from "./certificate-files.mjs";
import { images, runContainer } from "./docker.mjs";
import { findServers } from "./find-servers.mjs";
import { runServer } from "./private-server.mjs";
import { hearFrom } from "./probe.mjs";

/** As in production: writes are refused when memory is full, and nothing that queues need is evicted. */
const settings = {
  save: '""',
  appendonly: "yes",
  appendfsync: "everysec",
  maxmemory: "256mb",
  "maxmemory-policy": "noeviction",
};

/**
 * Starts a private Redis that keeps an append-only file and no snapshots.
 * @param {import("./servers.d.mts").RedisOptions} options
 * @returns {Promise<import("./servers.d.mts").RunningServer>}
 */
export async function startRedis({ dataFolder, port, log = () => {}, users, tls }) {
  const folder = resolve(dataFolder);
  const { redis: means } = await findServers(["redis"]);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const secure = tls !== undefined;
  const plan = {
    name: "Redis",
    folder,
    port,
    log,
    stopSignal: /** @type {const} */ ("SIGTERM"),
    isReady: async (/** @type {number} */ onPort) =>
      (await hearFrom({ port: onPort, secure, greeting: "PING\r\n", until: /^(\+PONG|-NOAUTH)/ })) !== undefined,
  };
  const server =
    means.by === "docker"
      ? await runContainer(plan, {
          image: images.redis,
          dataPath: "/data",
          containerPort: 6379,
          // The image's own changes to another user, who cannot read passwords and keys of this one.
          entrypoint: "redis-server",
          args: [writeConfig(folder, { ...containerPlace, users, tls })],
        })
      : await runServer({
          ...plan,
          launch: (onPort) => ({
            command: /** @type {string} */ (means.binaries[0]?.path),
            args: [writeConfig(folder, { ...ownPlace(folder, onPort), users, tls })],
          }),
        });
  return { ...server, url: `redis://127.0.0.1:${server.port}` };
}

/** In a container: what reaches its port is what Docker lets through. */
const containerPlace = { port: 6379, place: { bind: "*", "protected-mode": "no", dir: "/data" } };

/**
 * @param {string} folder
 * @param {number} port
 */
function ownPlace(folder, port) {
  const data = join(folder, "data");
  mkdirSync(data, { recursive: true });
  return { port, place: { bind: "127.0.0.1", dir: JSON.stringify(data) } };
}

/**
 * @param {string} folder
 * @param {{ port: number, place: Record<string, string> } & Pick<import("./servers.d.mts").RedisOptions, "users" | "tls">} what
 * @returns {string} the file
 */
function writeConfig(folder, { port, place, users, tls }) {
  const file = join(folder, "redis.conf");
  const ports = tls === undefined ? { port } : { port: 0, "tls-port": port, ...tlsSettings(folder, tls) };
  const lines = Object.entries({ ...place, ...ports, ...settings });
  if (users !== undefined) {
    const acl = join(folder, "users.acl");
    writeFileSync(acl, users, { mode: 0o600 });
    lines.push(["aclfile", JSON.stringify(acl)]);
  }
  writeFileSync(file, lines.map(([key, value]) => `${key} ${value}\n`).join(""));
  return file;
}

/**
 * @param {string} folder
 * @param {import("./servers.d.mts").ServerCertificate} certificate
 */
function tlsSettings(folder, certificate) {
  const { ca, cert, key } = writeCertificate(folder, certificate);
  return { "tls-cert-file": cert, "tls-key-file": key, "tls-ca-cert-file": ca, "tls-auth-clients": "optional" };
}
