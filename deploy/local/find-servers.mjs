import { canInstall, installServers } from "./apt.mjs";
import { binariesOf, urlVariable, wanted } from "./binaries.mjs";
import { hasDocker } from "./docker.mjs";
import { Failure } from "./failure.mjs";

/** @typedef {import("./binaries.mjs").ServerKind} ServerKind */
/** @typedef {{ by: "binary", binaries: import("./binaries.mjs").Binary[] } | { by: "docker" }} Means how to run a server here */

/** @type {Promise<void>} */
let installing = Promise.resolve();

/**
 * How each of these servers can be run on this machine: a program that is here, else a Docker engine, else a program
 * that apt-get installs now (as root on Debian). PRAGMA_SERVERS=docker passes the programs over.
 * @template {ServerKind} K
 * @param {K[]} kinds
 * @returns {Promise<Record<K, Means>>}
 * @throws {Failure} naming what to install
 */
export async function findServers(kinds) {
  let found = await lookAround(kinds);
  if (missing(kinds, found).length > 0 && canInstall()) {
    const turn = installing.then(async () => {
      const stillMissing = missing(kinds, await lookAround(kinds));
      if (stillMissing.length > 0) await installServers(stillMissing);
    });
    installing = turn.catch(() => {});
    await turn;
    found = await lookAround(kinds);
  }
  const nowhere = missing(kinds, found);
  if (nowhere.length > 0) throw new Failure(whatToInstall(nowhere));
  return /** @type {Record<K, Means>} */ (found);
}

/**
 * @param {ServerKind[]} kinds
 * @returns {Promise<Partial<Record<ServerKind, Means>>>}
 */
async function lookAround(kinds) {
  /** @type {Partial<Record<ServerKind, Means>>} */
  const found = {};
  for (const kind of kinds) {
    const binaries = process.env.PRAGMA_SERVERS === "docker" ? [] : binariesOf(kind);
    if (binaries.length > 0) found[kind] = { by: "binary", binaries };
    else if (await hasDocker()) found[kind] = { by: "docker" };
  }
  return found;
}

/**
 * @param {ServerKind[]} kinds
 * @param {Partial<Record<ServerKind, Means>>} found
 * @returns {ServerKind[]}
 */
function missing(kinds, found) {
  return kinds.filter((kind) => found[kind] === undefined);
}

/**
 * @param {ServerKind[]} kinds
 * @returns {string}
 */
function whatToInstall(kinds) {
  const names = kinds.map(
    (kind) => `${wanted[kind].name} ${wanted[kind].atLeast.join(".")} or newer (${wanted[kind].program})`,
  );
  const variables = kinds.map((kind) => urlVariable[kind]).join(", ");
  return `Not found on this machine: ${names.join(", ")}. Install it, or start Docker, or give a URL in ${variables}.`;
}
