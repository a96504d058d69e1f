import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { UserFacingError } from "./terminal.mjs";

/**
 * These ports are below the ephemeral range of common systems, so no outgoing connection takes one between the search
 * and the start of the server. Each vitest worker has its own range, so that no two find the same port.
 */
const portsPerWorker = 4_250;
const firstPort = 15_000 + (Number(process.env.VITEST_POOL_ID ?? 0) % 4) * portsPerWorker;

/** Where the next search starts, so that consecutive searches return different ports even before one is used. */
let nextOffset = randomInt(portsPerWorker);

/** Returns a TCP port that is free at this moment. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = firstPort + nextOffset;
    nextOffset = (nextOffset + 1) % portsPerWorker;
    if (await isPortFree(port)) return port;
  }
}

/** Whether a server can listen on this port, both on the loopback interface and on all interfaces. */
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

/** @throws `UserFacingError` with the variable that sets another port, when the port is in use. */
export async function requireFreePort(variable: string, port: number): Promise<void> {
  if (await isPortFree(port)) return;
  throw new UserFacingError(`Port ${port} is in use by another program. Set ${variable} to another port.`);
}
