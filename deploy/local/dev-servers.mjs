/**
 * The three servers for a developer's own runs (`npx vitest`, a service under a debugger): starts them with throw-away
 * data, prints the lines to paste into another shell, and stays up until Ctrl-C.
 */
import "./node-version.mjs";

const { runUntilStopped } = await import("./run-until-stopped.mjs");
await runUntilStopped(async () => {
  const { ensureServers } = await import("./servers.ts");
  const urls = await ensureServers("test");
  for (const [name, url] of Object.entries(urls)) console.log(`export ${name}='${url}'`);
  return undefined;
});
