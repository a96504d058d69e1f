import { connect } from "node:net";

/** Requests wait for a service that is being replaced, but not for one that stays unreachable. */
export class ConnectionOutage {
  readonly #maxWaitMs: number;
  #startedAt = 0;
  #failedAt: number | undefined;

  constructor(maxWaitMs: number) {
    this.#maxWaitMs = maxWaitMs;
  }

  /** Returns until when requests wait for a connection, as of `performance.now()`. */
  recordFailureAndGetDeadline(): number {
    const now = performance.now();
    // A failure long before says nothing about now, because nothing was sent in between.
    if (this.#failedAt === undefined || now - this.#failedAt > this.#maxWaitMs) this.#startedAt = now;
    this.#failedAt = now;
    return this.#startedAt + this.#maxWaitMs;
  }

  recordConnection(): void {
    this.#failedAt = undefined;
  }
}

const connectTimeoutMs = 1_500;

/** Returns whether the host of a URL accepts connections. */
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
