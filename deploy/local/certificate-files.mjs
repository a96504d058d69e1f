import { chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Writes a server's certificate into its folder, for its user only.
 * @param {string} folder
 * @param {import("./servers.d.mts").ServerCertificate} certificate
 * @param {import("./unprivileged-user.mjs").SystemUser} [user] when not this process's
 * @returns {import("./servers.d.mts").ServerCertificate} the files' paths
 */
export function writeCertificate(folder, certificate, user) {
  /** @param {"ca" | "cert" | "key"} part */
  const write = (part) => {
    const file = join(folder, `tls-${part}.pem`);
    writeFileSync(file, certificate[part], { mode: 0o600 });
    if (user !== undefined) chownSync(file, user.uid, user.gid);
    return file;
  };
  return { ca: write("ca"), cert: write("cert"), key: write("key") };
}
