import { join } from "node:path";
import { Failure } from "./failure.mjs";
import { isPortFree } from "./free-port.mjs";
import { runServer } from "./private-server.mjs";
import { endLeftOver } from "./server-record.mjs";

/** The product lets requests in flight finish, for 30 seconds at most. */
const stopWithinMs = 35_000;

/**
 * @typedef {object} ProductPlan
 * @property {string} stateFolder
 * @property {string} main the program's file, absolute
 * @property {NodeJS.ProcessEnv} env the whole of it
 * @property {number} port of the gateway
 * @property {number} opsPort answers /ready
 * @property {(line: string) => void} log
 * @property {(story: string) => void} onEnd told when it ends by itself
 */

/**
 * Where the product's output goes.
 * @param {string} stateFolder
 * @returns {string}
 */
export function productLog(stateFolder) {
  return join(stateFolder, "logs", "product.log");
}

/**
 * Makes sure that the product can have its ports, ending a product that an earlier run left behind.
 * @param {Pick<ProductPlan, "stateFolder" | "port" | "opsPort" | "log">} plan
 * @throws {Failure} naming the variable that chooses another port
 */
export async function claimPorts({ stateFolder, port, opsPort, log }) {
  await endLeftOver({ name: "product", folder: productFolder(stateFolder), log, stopWithinMs });
  for (const [variable, number] of Object.entries({ PORT: port, OPS_PORT: opsPort })) {
    if (!(await isPortFree(number)))
      throw new Failure(`Port ${number} is taken by another program. Set ${variable} to use another one.`);
  }
}

/**
 * Starts the product, all services in one process, and waits until its gateway answers and all its parts are ready.
 * @param {ProductPlan} plan
 * @returns {Promise<import("./private-server.mjs").RunningServer>}
 */
export function startProduct({ stateFolder, main, env, port, opsPort, log, onEnd }) {
  return runServer({
    name: "The product",
    folder: productFolder(stateFolder),
    logFile: productLog(stateFolder),
    port,
    log,
    onEnd,
    stopSignal: "SIGTERM",
    stopWithinMs,
    launch: () => ({ command: process.execPath, args: [main], env }),
    isReady: async () =>
      (await answersOk(`http://127.0.0.1:${port}/health/`)) && (await answersOk(`http://127.0.0.1:${opsPort}/ready`)),
  });
}

/**
 * @param {string} stateFolder
 * @returns {string}
 */
function productFolder(stateFolder) {
  return join(stateFolder, "product");
}

/**
 * @param {string} url
 * @returns {Promise<boolean>} whether there is a success at this address
 */
export async function answersOk(url) {
  try {
    const reply = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    await reply.body?.cancel();
    return reply.ok;
  } catch {
    return false;
  }
}
