import { chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServerLaunch } from "../run-server.ts";

/** A server's own certificate and key, and the authority of its clients' certificates: PEM texts. */
export interface ServerCertificate {
  ca: string;
  cert: string;
  key: string;
}

/** Writes a certificate into a server's folder, for its user only (default: this process's). Returns the files' paths. */
function writeCertificate(
  folder: string,
  certificate: ServerCertificate,
  user?: ServerLaunch["user"],
): ServerCertificate {
  const write = (part: keyof ServerCertificate) => {
    const file = join(folder, `tls-${part}.pem`);
    writeFileSync(file, certificate[part], { mode: 0o600 });
    if (user !== undefined) chownSync(file, user.uid, user.gid);
    return file;
  };
  return { ca: write("ca"), cert: write("cert"), key: write("key") };
}

/** NATS configuration: clients reach it over TLS only, and show a certificate of their own. */
export function natsTlsConfig(folder: string, certificate: ServerCertificate): string {
  const { ca, cert, key } = writeCertificate(folder, certificate);
  return `tls {\n  cert_file: "${cert}"\n  key_file: "${key}"\n  ca_file: "${ca}"\n  verify: true\n}\n`;
}

/** Redis configuration: clients reach it, on this port, over TLS only. */
export function redisTlsConfig(folder: string, certificate: ServerCertificate, port: number): string {
  const { ca, cert, key } = writeCertificate(folder, certificate);
  return `port 0\ntls-port ${port}\ntls-cert-file ${cert}\ntls-key-file ${key}\ntls-ca-cert-file ${ca}\ntls-auth-clients optional\n`;
}

/** Gives the server's user copies of the certificate's files, which it cannot read, and does what the image does. */
const copyCertificateCommand = 'mkdir /own && cp "$0"/tls-*.pem /own && chown -R postgres /own && exec "$@"';

/** Has PostgreSQL take clients over TLS, too. */
export function withPostgresTls(
  folder: string,
  certificate: ServerCertificate,
): (launch: ServerLaunch) => ServerLaunch {
  return (launch) => {
    const files = writeCertificate(folder, certificate, launch.user);
    const pathOf = (file: string) => (launch.container ? file.replace(folder, "/own") : file);
    const paths = Object.entries(files).map(([part, file]) => ["-c", `ssl_${part}_file=${pathOf(file)}`]);
    const args = [...launch.args, "-c", "ssl=on", ...paths.flat()];
    if (!launch.container) return { ...launch, args };
    return { ...launch, command: "sh", args: ["-c", copyCertificateCommand, folder, launch.command, ...args] };
  };
}
