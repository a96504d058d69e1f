import { spawn } from "node:child_process";
import { once } from "node:events";

/**
 * Runs one of PostgreSQL's own programs on the database that a URL names. The password goes by the environment, where
 * other users of the machine do not see it.
 *
 * @throws with what the program said when it fails or is not there.
 */
export async function runPostgresProgram(
  program: "pg_dump" | "pg_restore",
  databaseUrl: string,
  options: string[],
): Promise<void> {
  const url = new URL(databaseUrl);
  const password = decodeURIComponent(url.password);
  url.password = "";
  const child = spawn(program, [`--dbname=${url.href}`, ...options], {
    env: { ...process.env, ...(password && { PGPASSWORD: password }) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk) => {
    said = (said + String(chunk)).slice(-4_000);
  });
  const [code] = await once(child, "close").catch((cause: Error) => {
    throw new Error(`${program} cannot be run: is PostgreSQL's client installed, and in PATH?`, { cause });
  });
  if (code !== 0) throw new Error(`${program} ended with code ${code}:\n${said}`);
}
