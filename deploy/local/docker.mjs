import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { keptFile } from "./kept-file.mjs";

/** @type {boolean | undefined} */
let answers;

/**
 * Whether a Docker engine answers here. Asked once per process.
 * @returns {boolean}
 */
export function hasDocker() {
  answers ??= spawnSync("docker", ["info"], { stdio: "ignore", timeout: 10_000 }).status === 0;
  return answers;
}

/**
 * How to run an image as a private server: in the foreground, so that the signals sent to the command reach the
 * container; its data in a volume that belongs to `folder`.
 * @param {object} container
 * @param {string} container.folder the server's data folder
 * @param {string} container.image
 * @param {string} container.dataPath where the image keeps its data
 * @param {number} container.port on the host's loopback interface
 * @param {number} container.containerPort
 * @param {Record<string, string>} [container.env]
 * @param {string} [container.entrypoint] instead of the image's
 * @param {string[]} [container.args] for the entry point. They may name files of `folder`, which the container sees in
 *   the same place and cannot change
 * @returns {{ command: string, args: string[], cleanUp: () => void, hang: () => void, resume: () => void }} `cleanUp`
 *   removes the container, running or not
 */
export function containerCommand({ folder, image, dataPath, port, containerPort, env = {}, entrypoint, args = [] }) {
  const name = volumeOf(folder);
  /** @param {string[]} words */
  const docker = (...words) => void spawnSync("docker", [...words, name], { stdio: "ignore" });
  return {
    command: "docker",
    args: [
      "run",
      "--rm",
      "--name",
      name,
      "--label",
      `pragma.folder=${folder}`,
      "--volume",
      `${name}:${dataPath}`,
      "--volume",
      `${folder}:${folder}:ro`,
      "--publish",
      `127.0.0.1:${port}:${containerPort}`,
      ...Object.entries(env).flatMap(([key, value]) => ["--env", `${key}=${value}`]),
      ...(entrypoint === undefined ? [] : ["--entrypoint", entrypoint]),
      image,
      ...args,
    ],
    cleanUp: () => docker("rm", "--force"),
    hang: () => docker("pause"),
    resume: () => docker("unpause"),
  };
}

/**
 * Removes the volume of a data folder, where it has one.
 * @param {string} folder
 */
export function removeVolume(folder) {
  if (!existsSync(volumeFile(folder))) return;
  const name = readFileSync(volumeFile(folder), "utf8");
  spawnSync("docker", ["rm", "--force", name], { stdio: "ignore" });
  spawnSync("docker", ["volume", "rm", name], { stdio: "ignore" });
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
