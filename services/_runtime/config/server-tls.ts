import { readFileSync } from "node:fs";
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

/** The TLS configuration. All files are optional. */
export type ServerTlsConfig = Partial<z.output<typeof serverTlsConfigSchema>>;
