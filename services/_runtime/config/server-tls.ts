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
      context.addIssue({ code: "custom", message: "is no file that can be read" });
      return z.NEVER;
    }
  })
  .refine(({ pem }) => pem.includes("-----BEGIN "), { error: "is no PEM file" })
  .optional();

/**
 * How PostgreSQL, NATS and Redis are reached over TLS, which their URLs ask for (`sslmode=verify-full`, `tls://`,
 * `rediss://`). PEM files: the authorities to trust instead of the system's, and this process's own certificate and key
 * for servers that ask for one.
 */
export const serverTlsConfig = z.object({
  TLS_CA_FILE: pemFile,
  TLS_CERT_FILE: pemFile,
  TLS_KEY_FILE: pemFile,
});

/** The PEM files as configuration has them: all of them may be left out. */
export type ServerTlsConfig = Partial<z.output<typeof serverTlsConfig>>;

/** The contents of the files, as `node:tls` takes them. */
export function toTlsOptions({ TLS_CA_FILE, TLS_CERT_FILE, TLS_KEY_FILE }: ServerTlsConfig) {
  return { ca: TLS_CA_FILE?.pem, cert: TLS_CERT_FILE?.pem, key: TLS_KEY_FILE?.pem };
}

/**
 * What the URL of a PostgreSQL server says of TLS, in libpq's words: `sslmode` left out or `disable` is none; `require`
 * encrypts, and checks the certificate when authorities are given; `verify-ca` checks it; `verify-full` its name, too.
 *
 * @throws `Error` for another sslmode: one that may or may not encrypt is no protection.
 */
export function buildPostgresTlsOptions(url: string, tls: ServerTlsConfig): ConnectionOptions | false {
  const { searchParams, hostname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const mode = searchParams.get("sslmode") ?? "disable";
  const contents = toTlsOptions(tls);
  const anyName = { checkServerIdentity: () => undefined };
  switch (mode) {
    case "disable":
      return false;
    case "require":
      return { ...contents, ...anyName, rejectUnauthorized: contents.ca !== undefined };
    case "verify-ca":
      return { ...contents, ...anyName, rejectUnauthorized: true };
    case "verify-full":
      return { ...contents, host, servername: isIP(host) ? "" : host, rejectUnauthorized: true };
    default:
      throw new Error(
        `The sslmode of DATABASE_URL is one of disable, require, verify-ca and verify-full, not ${mode}.`,
      );
  }
}
