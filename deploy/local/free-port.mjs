import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Ports that are given to no outgoing connection, on any usual system: one that is found there is still free a moment
 * later, when a server takes it. Each of vitest's workers has a range of its own, so that no two find the same.
 */
const count = 4_250;
const first = 15_000 + (Number(process.env.VITEST_POOL_ID ?? 0) % 4) * count;

/** Where this process looks next: whoever takes many ports before it uses them gets none of them twice. */
let next = randomInt(count);

/**
 * A TCP port that nobody listens on at this moment.
 * @returns {Promise<number>}
 */
export async function freePort() {
  for (;;) {
    const port = first + next;
    next = (next + 1) % count;
    if (await isPortFree(port)) return port;
  }
}

/**
 * Whether a server could listen on this port now, on the loopback interface or on all of them.
 * @param {number} port
 * @returns {Promise<boolean>}
 */
export async function isPortFree(port) {
  return (await canListen(port, "127.0.0.1")) && (await canListen(port, undefined));
}

/**
 * @param {number} port
 * @param {string | undefined} host
 * @returns {Promise<boolean>}
 */
function canListen(port, host) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
}
