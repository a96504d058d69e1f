import { ServiceConnection } from "./service-connection.ts";

/** How long a connection is used before it is made anew, in milliseconds: so that instances that join a service are found. */
const connectionLife = 60_000;
/** How long a connection may lie idle, in milliseconds: well below the time after which services close theirs. */
const idleTime = 30_000;
const sweepTime = 5_000;

/** The connections to one service. The one used last is used first, so that those that are not needed time out. */
export class ConnectionPool {
  readonly #url: URL;
  readonly #idle: ServiceConnection[] = [];
  readonly #all = new Set<ServiceConnection>();
  readonly #sweep = setInterval(() => this.#closeUnused(), sweepTime).unref();

  constructor(url: URL) {
    this.#url = url;
  }

  take(): ServiceConnection {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      if (idle.isReusable) return idle;
    }
    const made: ServiceConnection = new ServiceConnection(this.#url, () => this.#all.delete(made));
    this.#all.add(made);
    return made;
  }

  /** Takes back a connection whose reply was told to its end. */
  giveBack(connection: ServiceConnection): void {
    connection.done();
    const isOld = performance.now() - connection.since > connectionLife;
    if (connection.isReusable && !isOld) this.#idle.push(connection);
    else connection.giveUp();
  }

  close(): void {
    clearInterval(this.#sweep);
    for (const connection of this.#all) connection.giveUp();
  }

  #closeUnused(): void {
    const deadline = performance.now() - idleTime;
    const used = this.#idle.findIndex(({ idleSince }) => idleSince > deadline);
    for (const connection of this.#idle.splice(0, used === -1 ? this.#idle.length : used)) connection.giveUp();
  }
}
