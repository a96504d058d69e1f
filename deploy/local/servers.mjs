import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { urlVariable } from "./binaries.mjs";
import { removeDataFolder, temporaryDataFolder } from "./data-folder.mjs";
import { findServers } from "./find-servers.mjs";
import { givenServer } from "./given-servers.mjs";
import { startNats } from "./nats-server.mjs";
import { startPostgres } from "./postgres-server.mjs";
import { say, withProgress } from "./progress.mjs";
import { startRedis } from "./redis-server.mjs";
import { stateFolder } from "./state-folder.mjs";

export { removeDataFolder, startNats, startPostgres, startRedis, temporaryDataFolder };

/** @typedef {import("./binaries.mjs").ServerKind} ServerKind */
const kinds = /** @type {const} */ (["postgres", "nats", "redis"]);

/**
 * The three servers: those that the environment names, else private ones, started side by side. When one does not come
 * up, those that did are stopped.
 * @param {{ profile: "start" | "test", log?: (line: string) => void }} options "start" keeps data in `.pragma/`; "test"
 *   in a temporary folder that `stop` removes
 * @returns {Promise<{ env: import("./servers.d.mts").ServerUrls, stop: () => Promise<void> }>}
 */
export async function ensureServers({ profile, log = say }) {
  const given = await Promise.all(kinds.map(givenServer));
  const own = kinds.filter((_, index) => given[index] === undefined);
  await findServers(own);
  const temporary = profile === "test" && own.length > 0 ? temporaryDataFolder("test") : undefined;
  const home = temporary ?? join(stateFolder);
  mkdirSync(home, { recursive: true });

  const outcomes = await Promise.allSettled(own.map((kind) => start(kind, { home, profile, log })));
  const started = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  const stop = async () => {
    await Promise.all(started.map((server) => server.stop()));
    if (temporary !== undefined) await removeDataFolder(temporary);
  };
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) {
    await stop();
    throw failed.reason;
  }
  const urls = kinds.map((kind, index) => [urlVariable[kind], given[index] ?? started[own.indexOf(kind)]?.url]);
  return { env: Object.fromEntries(urls), stop };
}

/**
 * @param {ServerKind} kind
 * @param {{ home: string, profile: "start" | "test", log: (line: string) => void }} place
 */
function start(kind, { home, profile, log }) {
  const dataFolder = join(home, kind);
  switch (kind) {
    case "postgres":
      return withProgress("Starting PostgreSQL", () =>
        startPostgres({ dataFolder, log, durable: profile === "start" }),
      );
    case "nats":
      return withProgress("Starting NATS", () => startNats({ dataFolder, log }));
    case "redis":
      return withProgress("Starting Redis", () => startRedis({ dataFolder, log }));
  }
}
