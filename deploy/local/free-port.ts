import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { UserFacingError } from "./terminal.mjs";

/**
 * Ports that are given to no outgoing connection, on any usual system: one that is found there is still free a moment
 * later, when a server takes it. Each of vitest's workers has a range of its own, so that no two find the same.
 */
const portsPerWorker = 4_250;
const firstPort = 15_000 + (Number(process.env.VITEST_POOL_ID ?? 0) % 4) * portsPerWorker;

/** Where this process looks next: whoever takes many ports before it uses them gets none of them twice. */
let nextOffset = randomInt(portsPerWorker);

/** A TCP port that nobody listens on at this moment. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = firstPort + nextOffset;
    nextOffset = (nextOffset + 1) % portsPerWorker;
    if (await isPortFree(port)) return port;
  }
}

/** Whether a server could listen on this port now, on the loopback interface or on all of them. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await canListen(port, "127.0.0.1")) && (await canListen(port, undefined));
}

function canListen(port: number, host: string | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}

/** @throws Failure naming the variable that chooses another port. */
export async function requireFreePort(variable: string, port: number): Promise<void> {
  if (await isPortFree(port)) return;
  throw new UserFacingError(`Port ${port} is taken by another program. Set ${variable} to use another one.`);
}
