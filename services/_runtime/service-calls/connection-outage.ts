import { connect } from "node:net";

export type ConnectionOutage = ReturnType<typeof createConnectionOutage>;

/** Creates the record of an outage. Requests wait for a service that is being replaced, but not for longer. */
export function createConnectionOutage(maxWaitMs: number) {
  let startedAt = 0;
  let failedAt: number | undefined;
  return {
    /** Returns until when requests wait for a connection, as of `performance.now()`. */
    recordFailureAndGetDeadline(): number {
      const now = performance.now();
      // A failure long before says nothing about now, because nothing was sent in between.
      if (failedAt === undefined || now - failedAt > maxWaitMs) startedAt = now;
      failedAt = now;
      return startedAt + maxWaitMs;
    },
    recordConnection(): void {
      failedAt = undefined;
    },
  };
}

const connectTimeoutMs = 1_500;

export function canConnect(url: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(url);
  const address = {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port) || (protocol === "https:" ? 443 : 80),
  };
  return new Promise((resolve) => {
    const socket = connect({ ...address, timeout: connectTimeoutMs });
    const finish = (isConnected: boolean) => () => {
      socket.destroy();
      resolve(isConnected);
    };
    socket.once("connect", finish(true)).once("timeout", finish(false)).once("error", finish(false));
  });
}
