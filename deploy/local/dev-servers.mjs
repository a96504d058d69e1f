/**
 * Starts PostgreSQL, NATS and Redis with temporary data for manual runs (`npx vitest`, a debugger), prints `export`
 * lines for another shell, and runs until Ctrl-C.
 */
import "./node-version.mjs";

const { runProgramUntilStopped } = await import("./run-until-stopped.mjs");
await runProgramUntilStopped(async () => {
  const { ensureLocalServersRunning } = await import("./servers.ts");
  const urls = await ensureLocalServersRunning("test");
  for (const [name, url] of Object.entries(urls)) console.log(`export ${name}='${url}'`);
  return undefined;
});
