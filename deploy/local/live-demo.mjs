import { join, resolve } from "node:path";
import { runServer } from "./private-server.mjs";

/**
 * @typedef {object} LiveDemoPlan
 * @property {string} stateFolder
 * @property {string} program absolute; keeps the live orders moving until it is told to end
 * @property {string} url where the API answers
 * @property {Record<string, string | undefined>} env what `npm start` was given
 * @property {(line: string) => void} log
 */

/**
 * Whether the demo's live orders are to move: unless PRAGMA_LIVE_DEMO says off.
 * @param {Record<string, string | undefined>} env
 * @returns {boolean}
 */
export function isLiveDemoWanted(env) {
  return !["off", "false", "0", "no"].includes((env.PRAGMA_LIVE_DEMO ?? "").toLowerCase());
}

/**
 * Starts the program that plays the demo's restaurant, beside the product. When it ends by itself the product goes on.
 * @param {LiveDemoPlan} plan
 * @returns {Promise<import("./private-server.mjs").RunningServer>}
 */
export function startLiveDemo({ stateFolder, program, url, env, log }) {
  return runServer({
    name: "The live demo",
    folder: join(stateFolder, "live-demo"),
    logFile: liveDemoLog(stateFolder),
    port: undefined,
    log,
    stopSignal: "SIGTERM",
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

/**
 * Where it tells what it does.
 * @param {string} stateFolder
 * @returns {string}
 */
export function liveDemoLog(stateFolder) {
  return join(stateFolder, "logs", "live-demo.log");
}
