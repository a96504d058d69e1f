import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { folderElsewhere } from "./data-folder.mjs";
import { Failure } from "./failure.mjs";
import { say } from "./progress.mjs";

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
export function unprivilegedUser(): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const options = ["--system", "--no-create-home", "--shell", "/usr/sbin/nologin"];
  const create = () => spawnSync("useradd", [...options, "pragma"]).status === 0;
  const user = lookUp("postgres") ?? lookUp("pragma") ?? (create() ? lookUp("pragma") : undefined);
  if (user !== undefined) return user;
  throw new Failure("PostgreSQL does not run as root, and no user for it could be created. Create one named postgres.");
}

function lookUp(name: string): SystemUser | undefined {
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
export function enterableFolder({ name, uid, gid }: SystemUser, folder: string): string {
  const canEnter = (path: string) =>
    spawnSync("/bin/sh", ["-c", 'cd -- "$1"', "sh", path], { cwd: "/", uid, gid, stdio: "ignore" }).status === 0;
  for (const each of [folder, dirname(folder)]) {
    if (canEnter(folder)) return folder;
    chownSync(each, 0, gid);
    chmodSync(each, 0o710);
  }
  if (canEnter(folder)) return folder;
  const elsewhere = folderElsewhere(folder);
  mkdirSync(elsewhere, { recursive: true, mode: 0o700 });
  const { uid: owner } = lstatSync(elsewhere);
  if (owner !== 0) throw new Failure(`${elsewhere} belongs to another user. Remove it and start again.`);
  chownSync(elsewhere, 0, gid);
  chmodSync(elsewhere, 0o710);
  if (existsSync(join(elsewhere, "cluster"))) return elsewhere;
  say(`The user ${name}, as whom PostgreSQL runs, may not enter ${folder}: its data is kept in ${elsewhere}.`);
  return elsewhere;
}
