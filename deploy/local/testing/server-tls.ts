import { chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServerLaunchSpec } from "../run-server.ts";

/** The certificate and key of a server, and the certificate authority of its clients, as PEM texts. */
export interface TestServerCertificate {
  ca: string;
  cert: string;
  key: string;
}

/** Writes a certificate to a server's folder, with access only for the server's user. Returns the file paths. */
function writeCertificate(
  folder: string,
  certificate: TestServerCertificate,
  user?: ServerLaunchSpec["user"],
): TestServerCertificate {
  const write = (part: keyof TestServerCertificate) => {
    const file = join(folder, `tls-${part}.pem`);
    writeFileSync(file, certificate[part], { mode: 0o600 });
    if (user !== undefined) chownSync(file, user.uid, user.gid);
    return file;
  };
  return { ca: write("ca"), cert: write("cert"), key: write("key") };
}

/** Writes the certificate to the folder. Returns NATS configuration that requires TLS and client certificates. */
export function writeNatsCertificate(folder: string, certificate: TestServerCertificate): string {
  const { ca, cert, key } = writeCertificate(folder, certificate);
  return `tls {\n  cert_file: "${cert}"\n  key_file: "${key}"\n  ca_file: "${ca}"\n  verify: true\n}\n`;
}

/** Writes the certificate to the folder. Returns Redis configuration that accepts only TLS connections on this port. */
export function writeRedisCertificate(folder: string, certificate: TestServerCertificate, port: number): string {
  const { ca, cert, key } = writeCertificate(folder, certificate);
  return `port 0\ntls-port ${port}\ntls-cert-file ${cert}\ntls-key-file ${key}\ntls-ca-cert-file ${ca}\ntls-auth-clients optional\n`;
}

/**
 * Shell command that copies the certificate to a folder of the user `postgres` in the container, because this user
 * cannot read the files of the host's user, and then runs the command of the image.
 */
const copyCertificateCommand = 'mkdir /own && cp "$0"/tls-*.pem /own && chown -R postgres /own && exec "$@"';

/** Returns an `adjustLaunch` for `startPostgresServer` that enables TLS. */
export function createTlsAdjuster(
  folder: string,
  certificate: TestServerCertificate,
): (launch: ServerLaunchSpec) => ServerLaunchSpec {
  return (launch) => {
    const files = writeCertificate(folder, certificate, launch.user);
    const pathOf = (file: string) => (launch.container ? file.replace(folder, "/own") : file);
    const paths = Object.entries(files).map(([part, file]) => ["-c", `ssl_${part}_file=${pathOf(file)}`]);
    const args = [...launch.args, "-c", "ssl=on", ...paths.flat()];
    if (!launch.container) return { ...launch, args };
    return { ...launch, command: "sh", args: ["-c", copyCertificateCommand, folder, launch.command, ...args] };
  };
}
