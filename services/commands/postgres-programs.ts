import { type ExecFileException, execFile } from "node:child_process";
import { promisify } from "node:util";
import type { ServerTlsConfig } from "@pragma/runtime/config/server-tls";

/**
 * Runs a PostgreSQL client program, with the password in the environment, because other users can read arguments.
 *
 * @throws `Error` when the program is not installed, or with the end of its error output when it fails.
 */
export async function runPostgresProgram(
  program: "pg_dump" | "pg_restore",
  { url: databaseUrl, tls }: { url: string; tls: ServerTlsConfig },
  options: string[],
): Promise<void> {
  const url = new URL(databaseUrl);
  const password = decodeURIComponent(url.password);
  url.password = "";
  const { TLS_CA_FILE, TLS_CERT_FILE, TLS_KEY_FILE } = tls;
  const env = {
    ...process.env,
    ...(password && { PGPASSWORD: password }),
    ...(TLS_CA_FILE && { PGSSLROOTCERT: TLS_CA_FILE.path }),
    ...(TLS_CERT_FILE && { PGSSLCERT: TLS_CERT_FILE.path }),
    ...(TLS_KEY_FILE && { PGSSLKEY: TLS_KEY_FILE.path }),
  };
  const args = [`--dbname=${url.href}`, ...options];
  const execution = promisify(execFile)(program, args, { env, maxBuffer: Number.POSITIVE_INFINITY });
  await execution.catch((cause: ExecFileException) => {
    if (typeof cause.code === "number")
      throw new Error(`${program} exited with code ${cause.code}:\n${cause.stderr?.slice(-4_000)}`);
    throw new Error(`${program} cannot be run. Is the PostgreSQL client installed and in PATH?`, { cause });
  });
}
