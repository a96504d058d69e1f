import { join, resolve } from "node:path";
import { say } from "./progress.mjs";
import { runServer } from "./run-server.ts";

/** Whether the demo's live orders are to move: unless PRAGMA_LIVE_DEMO says off. */
export function isLiveDemoWanted(env: NodeJS.ProcessEnv): boolean {
  return !["off", "false", "0", "no"].includes((env.PRAGMA_LIVE_DEMO ?? "").toLowerCase());
}

/**
 * Starts the program that plays the demo's restaurant against the API at `url`, beside the product, until it is told to
 * end. When it ends by itself the product goes on. Its log is `logs/live-demo.log`.
 */
export function startLiveDemo(stateFolder: string, program: string, url: string, env: NodeJS.ProcessEnv) {
  // The same as the seeding's, which does not run in another folder.
  const demoFile = resolve(env.PRAGMA_DEMO_FILE || join(".pragma", "demo.json"));
  return runServer({
    name: "The live demo",
    folder: join(stateFolder, "live-demo"),
    logFile: join(stateFolder, "logs", "live-demo.log"),
    log: say,
    launch: () => ({
      command: process.execPath,
      args: [program],
      env: { PATH: process.env.PATH, PRAGMA_URL: url, PRAGMA_DEMO_FILE: demoFile },
    }),
    isReady: async () => true,
  });
}
