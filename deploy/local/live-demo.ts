import { join, resolve } from "node:path";
import { runServer } from "./run-server.ts";

/** Whether the demo's live orders are to move: unless PRAGMA_LIVE_DEMO says off. */
export function isLiveDemoWanted(env: NodeJS.ProcessEnv): boolean {
  return !["off", "false", "0", "no"].includes((env.PRAGMA_LIVE_DEMO ?? "").toLowerCase());
}

interface LiveDemoPlan {
  stateFolder: string;
  /** Absolute; keeps the live orders moving until it is told to end. */
  program: string;
  /** Where the API answers. */
  url: string;
  /** What `npm start` was given. */
  env: NodeJS.ProcessEnv;
  log(line: string): void;
}

/** Starts the program that plays the demo's restaurant, beside the product. When it ends by itself the product goes on. */
export function startLiveDemo({ stateFolder, program, url, env, log }: LiveDemoPlan) {
  return runServer({
    name: "The live demo",
    folder: join(stateFolder, "live-demo"),
    logFile: liveDemoLog(stateFolder),
    log,
    launch: () => ({
      command: process.execPath,
      args: [program],
      env: {
        PATH: process.env.PATH,
        PRAGMA_URL: url,
        // The same as the seeding's, which does not run in another folder.
        PRAGMA_DEMO_FILE: resolve(env.PRAGMA_DEMO_FILE || join(".pragma", "demo.json")),
      },
    }),
    isReady: async () => true,
  });
}

/** Where it tells what it does. */
export function liveDemoLog(stateFolder: string): string {
  return join(stateFolder, "logs", "live-demo.log");
}
