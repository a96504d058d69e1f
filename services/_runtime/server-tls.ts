import { readFileSync } from "node:fs";
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
export type ServerTls = Partial<z.output<typeof serverTlsConfig>>;

/** The contents of the files, as `node:tls` takes them. */
export function tlsContents({ TLS_CA_FILE, TLS_CERT_FILE, TLS_KEY_FILE }: ServerTls): {
  ca?: string;
  cert?: string;
  key?: string;
} {
  return {
    ...(TLS_CA_FILE && { ca: TLS_CA_FILE.pem }),
    ...(TLS_CERT_FILE && { cert: TLS_CERT_FILE.pem }),
    ...(TLS_KEY_FILE && { key: TLS_KEY_FILE.pem }),
  };
}

/** The paths of the files, for a client that reads them anew with each connection. */
export function tlsPaths({ TLS_CA_FILE, TLS_CERT_FILE, TLS_KEY_FILE }: ServerTls): {
  caFile?: string;
  certFile?: string;
  keyFile?: string;
} {
  return {
    ...(TLS_CA_FILE && { caFile: TLS_CA_FILE.path }),
    ...(TLS_CERT_FILE && { certFile: TLS_CERT_FILE.path }),
    ...(TLS_KEY_FILE && { keyFile: TLS_KEY_FILE.path }),
  };
}
