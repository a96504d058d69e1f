import { randomUUID } from "node:crypto";
import { createWriteStream, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "./failure.mjs";
import { guardContainer, releaseContainer } from "./guarded.mjs";
import { keptFile } from "./kept-file.mjs";
import { beginLog, boundLog, endOfLog } from "./log-file.mjs";
import { portFor, readyWithinMs, usualStopWithinMs } from "./private-server.mjs";
import { isRunning, knownProcess } from "./process-identity.mjs";

/** The servers' images, of the versions that docker-compose.yml runs. */
export const images = {
  postgres: "postgres:17.11-alpine",
  nats: "nats:2.10.29-alpine",
  redis: "redis:7.4.9-alpine",
};

const ownerLabel = "pragma.owner";

/** Loaded only where containers are used, because it takes half a second. */
// biome-ignore lint/style/noRestrictedImports: packages are installed before servers are started.
const testcontainers = () => import("testcontainers");

async function dockerEngine() {
  const { getContainerRuntimeClient } = await testcontainers();
  return (await getContainerRuntimeClient()).container.dockerode;
}

/**
 * Whether a Docker engine answers here.
 * @returns {Promise<boolean>}
 */
export function hasDocker() {
  return dockerEngine().then(
    () => true,
    () => false,
  );
}

/**
 * @typedef {object} Container
 * @property {string} image
 * @property {string} dataPath where the image keeps its data: in a volume that belongs to the server's folder
 * @property {number} containerPort
 * @property {Record<string, string>} [env]
 * @property {string} [entrypoint] instead of the image's
 * @property {string[]} [args] for the entry point. They may name files of the server's folder, which the container sees
 *   in the same place and cannot change
 */

/**
 * Starts a private server as `runServer` does, in a container that listens on the loopback interface.
 * @param {Omit<import("./private-server.mjs").ServerPlan, "launch" | "logFile">} plan
 * @param {Container} container
 * @returns {Promise<import("./private-server.mjs").RunningServer>}
 * @throws {Failure} with the last lines of its log, when it does not come up within a minute
 */
export async function runContainer(plan, { image, dataPath, containerPort, env = {}, entrypoint, args = [] }) {
  const { name, folder, log, stopSignal, stopWithinMs = usualStopWithinMs, onEnd = log } = plan;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { GenericContainer, StartupCheckStrategy } = await testcontainers();
  const containerName = volumeOf(folder);
  const handle = (await dockerEngine()).getContainer(containerName);
  await refuseInUse(name, folder, handle);
  await handle.remove({ force: true }).catch(ignoreMissing);
  const port = await portFor(plan);
  const logFile = join(folder, "server.log");
  const logFrom = beginLog(logFile);

  class LoopbackContainer extends GenericContainer {
    /** @override */
    async beforeContainerCreated() {
      this.hostConfig.PortBindings = { [`${containerPort}/tcp`]: [{ HostIp: "127.0.0.1", HostPort: String(port) }] };
      this.createOpts.StopSignal = stopSignal;
    }
  }
  class WhenReady extends StartupCheckStrategy {
    /** @override */
    async checkStartupState() {
      if (!(await handle.inspect()).State.Running) return "FAIL";
      return (await plan.isReady(port)) ? "SUCCESS" : "PENDING";
    }
  }
  const container = new LoopbackContainer(image)
    .withName(containerName)
    .withLabels({ "pragma.folder": folder, [ownerLabel]: JSON.stringify(knownProcess(process.pid)) })
    .withBindMounts([
      { source: containerName, target: dataPath },
      { source: folder, target: folder, mode: "ro" },
    ])
    .withExposedPorts(containerPort)
    .withEnvironment(env)
    .withCommand(args)
    .withWaitStrategy(new WhenReady())
    .withStartupTimeout(readyWithinMs)
    // The guard ends it with this process, and needs no container that may command Docker.
    .withAutoCleanup(false)
    .withLogConsumer((output) => output.pipe(createWriteStream(logFile, { flags: "a", mode: 0o600 })));
  if (entrypoint !== undefined) container.withEntrypoint([entrypoint]);

  guardContainer(containerName);
  const remove = async () => {
    await handle.remove({ force: true, v: true }).catch(ignoreMissing);
    releaseContainer(containerName);
  };
  const started = await container.start().catch(async (error) => {
    await remove();
    throw new Failure(`${name} did not come up: ${error.message}. ${endOfLog(logFile, logFrom)}`);
  });
  const { Pid: pid } = (await handle.inspect()).State;
  let stopping = false;
  /** @type {Promise<string>} how it ended */
  const ended = handle.wait().then(
    ({ StatusCode }) => `exit code ${StatusCode}`,
    (error) => error.message,
  );
  void ended.then(boundLog(logFile));
  void ended.then(async (how) => {
    if (stopping) return;
    await remove();
    onEnd(`${name} ended by itself (${how}). ${endOfLog(logFile, logFrom)}`);
  });
  /** @param {() => Promise<unknown>} end */
  const endBy = async (end) => {
    stopping = true;
    await end();
    await ended;
    await remove();
  };
  return {
    pid,
    port,
    stop: () => endBy(() => started.stop({ timeout: stopWithinMs, remove: false })),
    kill: () => endBy(remove),
    hang: () => handle.pause(),
    resume: () => handle.unpause(),
  };
}

/**
 * @param {string} name
 * @param {string} folder
 * @param {ReturnType<Awaited<ReturnType<typeof dockerEngine>>["getContainer"]>} handle
 * @throws {Failure} when the process that started the folder's container still runs
 */
async function refuseInUse(name, folder, handle) {
  const found = await handle.inspect().catch(ignoreMissing);
  const owner = JSON.parse(found?.Config.Labels[ownerLabel] ?? "null");
  if (owner !== null && found?.State.Running && isRunning(owner))
    throw new Failure(`${name} already runs on ${folder}, started by process ${owner.pid}. Stop that one first.`);
}

/**
 * Stops a container gracefully, and removes it.
 * @param {string} name
 * @param {number} graceMs
 */
export async function endContainer(name, graceMs) {
  const handle = (await dockerEngine()).getContainer(name);
  await handle.stop({ t: graceMs / 1000 }).catch(() => {});
  await handle.remove({ force: true, v: true }).catch(ignoreMissing);
}

/**
 * Removes the volume of a data folder, where it has one.
 * @param {string} folder
 */
export async function removeVolume(folder) {
  if (!existsSync(volumeFile(folder))) return;
  const name = readFileSync(volumeFile(folder), "utf8");
  const docker = await dockerEngine();
  await docker.getContainer(name).remove({ force: true }).catch(ignoreMissing);
  await docker.getVolume(name).remove().catch(ignoreMissing);
}

/**
 * @param {{ statusCode?: number }} error
 * @returns {undefined}
 */
function ignoreMissing(error) {
  // 409: its removal is under way.
  if (error.statusCode !== 404 && error.statusCode !== 409) throw error;
}

/**
 * The name of the folder's container and volume, made once.
 * @param {string} folder
 * @returns {string}
 */
function volumeOf(folder) {
  return keptFile(volumeFile(folder), () => `pragma-${randomUUID()}`);
}

/**
 * @param {string} folder
 * @returns {string}
 */
function volumeFile(folder) {
  return join(folder, "docker-volume");
}
