import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { containerCommand } from "./docker.mjs";
import { findServers } from "./find-servers.mjs";
import { runServer } from "./private-server.mjs";
import { hearFrom } from "./probe.mjs";

const settings = { save: '""', appendonly: "yes", appendfsync: "everysec" };

/**
 * Starts a private Redis that keeps an append-only file and no snapshots.
 * @param {import("./servers.d.mts").ServerOptions} options
 * @returns {Promise<import("./servers.d.mts").RunningServer>}
 */
export async function startRedis({ dataFolder, port, log = () => {} }) {
  const folder = resolve(dataFolder);
  const { redis: means } = await findServers(["redis"]);
  const server = await runServer({
    name: "Redis",
    folder,
    port,
    log,
    stopSignal: "SIGTERM",
    launch: (onPort) =>
      means.by === "docker"
        ? containerCommand({
            folder,
            image: "redis:7-alpine",
            dataPath: "/data",
            port: onPort,
            containerPort: 6379,
            args: Object.entries(settings).flatMap(([key, value]) => [`--${key}`, value === '""' ? "" : value]),
          })
        : { command: /** @type {string} */ (means.binaries[0]?.path), args: [writeConfig(folder, onPort)] },
    isReady: async (onPort) => (await hearFrom({ port: onPort, greeting: "PING\r\n", until: /^\+PONG/ })) !== undefined,
  });
  return { ...server, url: `redis://127.0.0.1:${server.port}` };
}

/**
 * @param {string} folder
 * @param {number} port
 * @returns {string} the file
 */
function writeConfig(folder, port) {
  const file = join(folder, "redis.conf");
  const data = join(folder, "data");
  mkdirSync(data, { recursive: true });
  const lines = Object.entries({ bind: "127.0.0.1", port, dir: JSON.stringify(data), ...settings });
  writeFileSync(file, lines.map(([key, value]) => `${key} ${value}\n`).join(""));
  return file;
}
