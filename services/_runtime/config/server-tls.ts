import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { z } from "zod";

const pemFile = z
  .string()
  .transform((path, context) => {
    try {
      return { path, pem: readFileSync(path, "utf8") };
    } catch {
      context.addIssue({ code: "custom", message: "must be a readable file" });
      return z.NEVER;
    }
  })
  .refine(({ pem }) => pem.includes("-----BEGIN "), { error: "must be a PEM file" })
  .optional();

/**
 * The PEM files for TLS connections to PostgreSQL, NATS and Redis: the certificate authorities to trust instead of the
 * system's, and this process's client certificate and key for servers that request a client certificate. TLS is turned
 * on in the URL of each server (`sslmode=verify-full`, `tls://`, `rediss://`).
 */
export const serverTlsConfigSchema = z.object({
  TLS_CA_FILE: pemFile,
  TLS_CERT_FILE: pemFile,
  TLS_KEY_FILE: pemFile,
});

export type ServerTlsConfig = Partial<z.output<typeof serverTlsConfigSchema>>;

export function toTlsOptions({ TLS_CA_FILE, TLS_CERT_FILE, TLS_KEY_FILE }: ServerTlsConfig) {
  return { ca: TLS_CA_FILE?.pem, cert: TLS_CERT_FILE?.pem, key: TLS_KEY_FILE?.pem };
}

/**
 * Returns the TLS options for the `sslmode` of a PostgreSQL URL, as libpq defines it, or false for no TLS. `require` checks
 * the server's certificate only if certificate authorities are configured.
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
