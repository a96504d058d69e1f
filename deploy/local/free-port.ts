import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { LocalCommandUserError } from "./terminal.mjs";

/**
 * Number of ports in the range of each vitest worker. Up to four workers have separate ranges, so that they do not find
 * the same port. All ranges are below the ephemeral ports of common systems, so that no outgoing connection uses a port
 * between the search and the start of the server.
 */
const portsPerWorker = 4_250;
const firstPort = 15_000 + (Number(process.env.VITEST_POOL_ID ?? 0) % 4) * portsPerWorker;

/** Where the next search starts, so that two searches return different ports even if neither is in use yet. */
let nextOffset = randomInt(portsPerWorker);

export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = firstPort + nextOffset;
    nextOffset = (nextOffset + 1) % portsPerWorker;
    if (await isPortFree(port)) return port;
  }
}

/** Returns whether a server can listen on this port, both on the loopback interface and on all interfaces. */
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

/** @throws `LocalCommandUserError` if browsers refuse the port, because it belongs to another protocol. */
export async function requirePortForBrowsers(variable: string, port: number): Promise<void> {
  // fetch rejects with this cause before it connects. It uses the same list of ports as browsers.
  const signal = AbortSignal.timeout(1_000);
  const cause = await fetch(`http://127.0.0.1:${port}`, { signal }).then(
    (response) => response.body?.cancel(),
    (error) => error.cause,
  );
  if (cause?.message !== "bad port") return;
  throw new LocalCommandUserError(
    `Web browsers and many HTTP clients refuse to connect to port ${port}. Set ${variable} to another port.`,
  );
}

/** @throws `LocalCommandUserError` if the port is in use. The message names the variable that sets another port. */
export async function requireFreePort(variable: string, port: number): Promise<void> {
  if (await isPortFree(port)) return;
  throw new LocalCommandUserError(`Port ${port} is in use by another program. Set ${variable} to another port.`);
}
