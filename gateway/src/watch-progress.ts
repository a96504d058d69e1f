import type { Exchange } from "./exchange.ts";

/** A clock that runs out when nothing happens for too long. */
export interface Progress {
  /** Something happened. */
  made(): void;
  /** Nothing is expected to happen any more, or it may take as long as it likes. */
  stop(): void;
}

/** Watches requests that are with a service. */
export interface ProgressWatch {
  /**
   * Watches that a service gets on with a request: takes its body, answers, sends its reply. Waiting for a client that
   * is slow to send is no fault of the service's and is not counted.
   */
  begin(exchange: Exchange, onStall: () => void): Progress;
  close(): void;
}

/** How many times all requests are looked at before one that makes no progress is given up on. */
const rounds = 10;

/** One timer for all requests: a request gets between 10/10 and 11/10 of the time. */
export function createProgressWatch(milliseconds: number): ProgressWatch {
  const watched = new Set<Watched>();
  const timer = setInterval(() => {
    for (const each of watched) each.look();
  }, milliseconds / rounds).unref();

  class Watched implements Progress {
    readonly #exchange: Exchange;
    readonly #onStall: () => void;
    #rounds = 0;

    constructor(exchange: Exchange, onStall: () => void) {
      this.#exchange = exchange;
      this.#onStall = onStall;
    }

    made(): void {
      this.#rounds = 0;
    }

    stop(): void {
      watched.delete(this);
    }

    look(): void {
      this.#rounds += 1;
      if (this.#rounds <= rounds) return;
      if (this.#exchange.isClientSlow) {
        this.made();
        return;
      }
      this.stop();
      this.#onStall();
    }
  }

  return {
    begin(exchange, onStall) {
      const watch = new Watched(exchange, onStall);
      watched.add(watch);
      return watch;
    },
    close: () => clearInterval(timer),
  };
}
