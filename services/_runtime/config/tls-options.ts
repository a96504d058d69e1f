import { isIP } from "node:net";
import type { ConnectionOptions } from "node:tls";
import type { ServerTlsConfig } from "./server-tls.ts";

/** Returns the contents of the PEM files as options for `node:tls`. */
export function toTlsOptions({ TLS_CA_FILE, TLS_CERT_FILE, TLS_KEY_FILE }: ServerTlsConfig) {
  return { ca: TLS_CA_FILE?.pem, cert: TLS_CERT_FILE?.pem, key: TLS_KEY_FILE?.pem };
}

/**
 * Returns the TLS options for the `sslmode` of a PostgreSQL URL, with the meanings that libpq defines. Returns false,
 * for no TLS, when `sslmode` is missing or `disable`. `require` encrypts, and checks the server's certificate only if
 * certificate authorities are configured. `verify-ca` always checks the certificate. `verify-full` also checks the host
 * name in the certificate.
 *
 * @throws `Error` for `allow` and `prefer`, which can fall back to an unencrypted connection, and for unknown modes.
 */
export function buildPostgresTlsOptions(url: string, tls: ServerTlsConfig): ConnectionOptions | false {
  const { searchParams, hostname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const mode = searchParams.get("sslmode") ?? "disable";
  const contents = toTlsOptions(tls);
  const acceptAnyName = { checkServerIdentity: () => undefined };
  switch (mode) {
    case "disable":
      return false;
    case "require":
      return { ...contents, ...acceptAnyName, rejectUnauthorized: contents.ca !== undefined };
    case "verify-ca":
      return { ...contents, ...acceptAnyName, rejectUnauthorized: true };
    case "verify-full":
      return { ...contents, host, servername: isIP(host) ? "" : host, rejectUnauthorized: true };
    default:
      throw new Error(`The sslmode of DATABASE_URL must be disable, require, verify-ca or verify-full, not ${mode}.`);
  }
}
