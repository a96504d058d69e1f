/**
 * The three servers for a developer's own runs (`npx vitest`, a service under a debugger): starts them with throw-away
 * data, prints the lines to paste into another shell, and stays up until Ctrl-C.
 */
import "./node-version.mjs";
import { ensureServers } from "./servers.mjs";
import { runUntilStopped } from "./until-stopped.mjs";

await runUntilStopped(async ({ step, onStop }) => {
  const servers = await step(() => ensureServers({ profile: "test", log: (line) => console.error(line) }));
  onStop(servers.stop);
  for (const [name, url] of Object.entries(servers.env)) console.log(`export ${name}='${url}'`);
});
