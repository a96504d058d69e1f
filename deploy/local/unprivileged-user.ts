import { spawnSync } from "node:child_process";
import { chmodSync, chownSync } from "node:fs";
import { dirname } from "node:path";
import { Failure } from "./failure.mjs";

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
 * Lets a user, and no other, pass through a folder of this process's and, where needed, through the one around it.
 *
 * @throws Failure naming the folder further up that the user cannot enter.
 */
export function letPass({ name, uid, gid }: SystemUser, folder: string): void {
  const canEnter = (path: string) =>
    spawnSync("/bin/sh", ["-c", 'cd -- "$1"', "sh", path], { cwd: "/", uid, gid, stdio: "ignore" }).status === 0;
  for (const each of [folder, dirname(folder)]) {
    if (canEnter(folder)) return;
    chownSync(each, 0, gid);
    chmodSync(each, 0o710);
  }
  if (canEnter(folder)) return;
  let closed = folder;
  while (!canEnter(dirname(closed))) closed = dirname(closed);
  throw new Failure(
    `PostgreSQL does not run as root, and the user ${name}, as whom it runs, may not enter ${closed}. ` +
      `Allow it (chmod o+x ${closed}), or move the checkout to where every user may go.`,
  );
}
