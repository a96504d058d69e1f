/**
 * The three servers for a developer's own runs (`npx vitest`, a service under a debugger): starts them with throw-away
 * data, prints the lines to paste into another shell, and stays up until Ctrl-C.
 */
import { explain } from "./failure.mjs";
import { ensureServers } from "./servers.mjs";

try {
  const servers = await ensureServers({ profile: "test", log: (line) => console.error(line) });
  for (const [name, url] of Object.entries(servers.env)) console.log(`export ${name}='${url}'`);
  const keepUp = setInterval(() => {}, 2 ** 30);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
    process.once(signal, async () => {
      await servers.stop();
      clearInterval(keepUp);
    });
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
