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
export function tlsContents({ TLS_CA_FILE, TLS_CERT_FILE, TLS_KEY_FILE }: ServerTls) {
  return { ca: TLS_CA_FILE?.pem, cert: TLS_CERT_FILE?.pem, key: TLS_KEY_FILE?.pem };
}
