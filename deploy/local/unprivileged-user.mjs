import { spawnSync } from "node:child_process";
import { Failure } from "./failure.mjs";

/** @typedef {{ name: string, uid: number, gid: number }} SystemUser */

const candidates = ["postgres", "pragma"];

/**
 * The user that a server which refuses to run as root runs as: Debian's `postgres`, else a system user `pragma` that is
 * created here.
 * @returns {SystemUser | undefined} undefined when this process is not root: servers then run as this process's user
 * @throws {Failure} when there is none and none can be created
 */
export function unprivilegedUser() {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of candidates) {
    const user = lookUp(name);
    if (user !== undefined) return user;
  }
  spawnSync("useradd", ["--system", "--no-create-home", "--shell", "/usr/sbin/nologin", "pragma"], { stdio: "ignore" });
  const created = lookUp("pragma");
  if (created === undefined)
    throw new Failure(
      "PostgreSQL does not run as root, and no user for it could be created. Create one named postgres.",
    );
  return created;
}

/**
 * @param {string} name
 * @returns {SystemUser | undefined}
 */
function lookUp(name) {
  const [uid, gid] = ["-u", "-g"].map((option) => {
    const { status, stdout } = spawnSync("id", [option, name], { encoding: "utf8" });
    return status === 0 ? Number(stdout) : 0;
  });
  return uid && gid ? { name, uid, gid } : undefined;
}
