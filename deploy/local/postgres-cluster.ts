import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fallbackDataFolder } from "./data-folder.mjs";
import type { ServerBinary } from "./find-servers.ts";
import { runCommandOrFail } from "./run-command.mjs";
import type { ServerLaunch } from "./run-server.ts";
import { printLine, UserFacingError } from "./terminal.mjs";

interface NewClusterOptions {
  /** Who runs PostgreSQL; undefined: this process's user. */
  user: SystemUser | undefined;
  password: string;
  /** Whether the files of a new cluster must be on disk before this returns. */
  durable: boolean;
}

interface LocalClusterOptions extends Omit<NewClusterOptions, "user"> {
  folder: string;
  /** The newest first. */
  binaries: ServerBinary[];
}

/**
 * How to run PostgreSQL on a folder's cluster, which is made when there is none. As root it runs as another user, who
 * owns the cluster.
 */
export async function prepareLocalPostgres({
  folder,
  binaries,
  password,
  durable,
}: LocalClusterOptions): Promise<ServerLaunch> {
  const user = findUnprivilegedUser();
  const cluster = join(user === undefined ? folder : ensureEnterableFolder(user, folder), "cluster");
  const programs = findProgramsFolder(binaries, cluster);
  if (!existsSync(cluster)) await createCluster(cluster, programs, { user, password, durable });
  removeStaleLock(cluster);
  const place = ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="];
  return { command: join(programs, "postgres"), args: ["-D", cluster, ...place], user };
}

/**
 * The folder of programs that can run this cluster: those of the version that made it, else the newest.
 *
 * @throws Failure when the cluster is broken or no program of its version is here.
 */
function findProgramsFolder(binaries: ServerBinary[], cluster: string): string {
  const newest = binaries[0] ?? { path: "", version: "none" };
  if (!existsSync(cluster)) return dirname(newest.path);
  const versionFile = join(cluster, "PG_VERSION");
  if (!existsSync(versionFile))
    throw new UserFacingError(
      `${cluster} is not a PostgreSQL cluster any more. Remove the folder and start again: its data is lost.`,
    );
  const madeBy = readFileSync(versionFile, "utf8").trim();
  const same = binaries.find(({ version }) => version.split(".")[0] === madeBy);
  if (same !== undefined) return dirname(same.path);
  throw new UserFacingError(
    `The data in ${cluster} was made by PostgreSQL ${madeBy}, and this machine has ${newest.version}. ` +
      `Install PostgreSQL ${madeBy}, or remove the folder to start with empty data.`,
  );
}

/**
 * Makes an empty UTF-8 cluster whose only user, `pragma`, logs in with a password, and a database `pragma` in it. The
 * folder appears only when it is complete.
 */
async function createCluster(
  cluster: string,
  programs: string,
  { user, password, durable }: NewClusterOptions,
): Promise<void> {
  const unfinished = `${cluster}.unfinished`;
  const passwordFile = `${cluster}.password`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user !== undefined) for (const path of [unfinished, passwordFile]) chownSync(path, user.uid, user.gid);
  const ctype = process.platform === "darwin" ? "UTF-8" : "C.UTF-8";
  const run = async (program: string, args: string[], input = "") => {
    const options = { cwd: "/", env: { LC_ALL: "C", TZ: "UTC" }, input, ...user };
    const output = await runCommandOrFail(join(programs, program), args, options, `${program} failed`);
    // A single-user server answers a faulty statement with a line, and ends well.
    if (/\b(ERROR|FATAL|PANIC):/.test(output)) throw new UserFacingError(`${program} failed:\n${output}`);
  };
  try {
    await run("initdb", [
      ...["--pgdata", unfinished, "--username", "pragma", "--pwfile", passwordFile, "--auth", "scram-sha-256"],
      ...["--encoding", "UTF8", "--locale", "C", "--lc-ctype", ctype, ...(durable ? [] : ["--no-sync"])],
    ]);
    const args = ["--single", "-D", unfinished, ...(durable ? [] : ["-F"]), "postgres"];
    await run("postgres", args, "CREATE DATABASE pragma\n");
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(unfinished, cluster);
}

/**
 * Removes the lock of a server that was killed, when another process has its number by now: PostgreSQL would take that
 * process for the killed server. A lock whose process is gone stays, because it says which memory was in use.
 */
function removeStaleLock(cluster: string): void {
  const lockFile = join(cluster, "postmaster.pid");
  if (!existsSync(lockFile)) return;
  const pid = String(Number.parseInt(readFileSync(lockFile, "utf8"), 10));
  const { stdout, status } = spawnSync("ps", ["-ww", "-o", "args=", "-p", pid], { encoding: "utf8" });
  if (status === 0 && !stdout.includes(cluster)) rmSync(lockFile);
}

export interface SystemUser {
  name: string;
  uid: number;
  gid: number;
}

/**
 * The user that PostgreSQL, which refuses to run as root, runs as: Debian's `postgres`, else a system user `pragma` that
 * is created here. Undefined when this process is not root: it then runs as this process's user.
 *
 * @throws Failure when there is none and none can be created.
 */
function findUnprivilegedUser(): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const options = ["--system", "--no-create-home", "--shell", "/usr/sbin/nologin"];
  const create = () => spawnSync("useradd", [...options, "pragma"]).status === 0;
  const user =
    lookUpSystemUser("postgres") ?? lookUpSystemUser("pragma") ?? (create() ? lookUpSystemUser("pragma") : undefined);
  if (user !== undefined) return user;
  throw new UserFacingError(
    "PostgreSQL does not run as root, and no user for it could be created. Create one named postgres.",
  );
}

function lookUpSystemUser(name: string): SystemUser | undefined {
  const [uid, gid] = ["-u", "-g"].map((option) => {
    const { status, stdout } = spawnSync("id", [option, name], { encoding: "utf8" });
    return status === 0 ? Number(stdout) : 0;
  });
  return uid && gid ? { name, uid, gid } : undefined;
}

/**
 * Returns a folder for the data of a user, which no other user may pass through: this one, or one of /var/tmp that is
 * always the same for it where a folder further up, such as /root, is closed to the user.
 *
 * @throws Failure when that folder is somebody else's.
 */
function ensureEnterableFolder({ name, uid, gid }: SystemUser, folder: string): string {
  const canEnter = (path: string) =>
    spawnSync("/bin/sh", ["-c", 'cd -- "$1"', "sh", path], { cwd: "/", uid, gid, stdio: "ignore" }).status === 0;
  for (const each of [folder, dirname(folder)]) {
    if (canEnter(folder)) return folder;
    chownSync(each, 0, gid);
    chmodSync(each, 0o710);
  }
  if (canEnter(folder)) return folder;
  const elsewhere = fallbackDataFolder(folder);
  mkdirSync(elsewhere, { recursive: true, mode: 0o700 });
  const { uid: owner } = lstatSync(elsewhere);
  if (owner !== 0) throw new UserFacingError(`${elsewhere} belongs to another user. Remove it and start again.`);
  chownSync(elsewhere, 0, gid);
  chmodSync(elsewhere, 0o710);
  if (existsSync(join(elsewhere, "cluster"))) return elsewhere;
  printLine(`The user ${name}, as whom PostgreSQL runs, may not enter ${folder}: its data is kept in ${elsewhere}.`);
  return elsewhere;
}
