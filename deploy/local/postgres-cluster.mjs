import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { wanted } from "./binaries.mjs";
import { Failure } from "./failure.mjs";
import { commandLine } from "./process-identity.mjs";
import { endOf, runCommand } from "./run-command.mjs";

/** @typedef {import("./unprivileged-user.mjs").SystemUser} SystemUser */

/**
 * The folder of programs that can run this cluster: those of the version that made it, else the newest.
 * @param {import("./binaries.mjs").Binary[]} binaries the newest first
 * @param {string} cluster
 * @returns {string}
 * @throws {Failure} when the cluster is broken or no program of its version is here
 */
export function programsFor(binaries, cluster) {
  const newest = binaries[0];
  if (newest === undefined) throw new Failure(`${wanted.postgres.name} is not on this machine.`);
  if (!existsSync(cluster)) return dirname(newest.path);
  const versionFile = join(cluster, "PG_VERSION");
  if (!existsSync(versionFile))
    throw new Failure(
      `${cluster} is not a PostgreSQL cluster any more. Remove the folder and start again: its data is lost.`,
    );
  const madeBy = Number(readFileSync(versionFile, "utf8"));
  const same = binaries.find(({ version }) => version[0] === madeBy);
  if (same !== undefined) return dirname(same.path);
  throw new Failure(
    `The data in ${cluster} was made by PostgreSQL ${madeBy}, and this machine has ${newest.version[0]}. ` +
      `Install PostgreSQL ${madeBy}, or remove the folder to start with empty data.`,
  );
}

/**
 * Makes an empty UTF-8 cluster whose only user, `pragma`, logs in with a password, and a database `pragma` in it. The
 * folder appears only when it is complete.
 * @param {object} cluster
 * @param {string} cluster.cluster the folder to make
 * @param {string} cluster.programs where initdb and postgres are
 * @param {SystemUser | undefined} cluster.user undefined: this process's
 * @param {string} cluster.password
 * @param {boolean} cluster.durable whether the files must be on disk before this returns
 */
export async function createCluster({ cluster, programs, user, password, durable }) {
  const unfinished = `${cluster}.unfinished`;
  const passwordFile = `${cluster}.password`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user !== undefined) for (const path of [unfinished, passwordFile]) chownSync(path, user.uid, user.gid);
  const sync = durable ? [] : ["--no-sync"];
  const ctype = process.platform === "darwin" ? "UTF-8" : "C.UTF-8";
  try {
    await run(join(programs, "initdb"), user, [
      ...["--pgdata", unfinished, "--username", "pragma", "--pwfile", passwordFile, "--auth", "scram-sha-256"],
      ...["--encoding", "UTF8", "--locale", "C", "--lc-ctype", ctype, ...sync],
    ]);
    const singleUser = ["--single", "-D", unfinished, ...(durable ? [] : ["-F"]), "postgres"];
    await run(join(programs, "postgres"), user, singleUser, "CREATE DATABASE pragma\n");
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(unfinished, cluster);
}

/**
 * Removes the lock of a server that was killed, when another process has its number by now. PostgreSQL itself would
 * take that process for the killed server.
 * @param {string} cluster
 * @throws {Failure} when a PostgreSQL does run on the cluster
 */
export function clearStaleLock(cluster) {
  const lockFile = join(cluster, "postmaster.pid");
  if (!existsSync(lockFile)) return;
  const pid = Number(readFileSync(lockFile, "utf8").split("\n")[0]);
  const command = commandLine(pid);
  if (command === undefined) return;
  if (command.includes(cluster))
    throw new Failure(`PostgreSQL already runs on ${cluster} (process ${pid}). Stop it first.`);
  rmSync(lockFile);
}

/**
 * @param {string} command
 * @param {SystemUser | undefined} user
 * @param {string[]} args
 * @param {string} [input]
 */
async function run(command, user, args, input = "") {
  const { code, output } = await runCommand(command, args, {
    cwd: "/",
    env: { LC_ALL: "C", TZ: "UTC" },
    input,
    ...(user && { user: { uid: user.uid, gid: user.gid } }),
  });
  // A single-user server answers a faulty statement with a line, and ends well.
  if (code !== 0 || /\b(ERROR|FATAL|PANIC):/.test(output)) throw new Failure(`${command} failed:\n${endOf(output)}`);
}
