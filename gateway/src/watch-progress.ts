import type { IncomingMessage } from "node:http";

/** A clock that runs out when nothing happens for too long. */
export interface Progress {
  /** Something happened. */
  made(): void;
  /** Nothing is expected to happen any more, or it may take as long as it likes. */
  stop(): void;
}

/**
 * Watches that a service gets on with a request: takes its body, answers, sends its reply. Waiting for a client that is
 * slow to send is no fault of the service's and is not counted.
 */
export function watchProgress(incoming: IncomingMessage, milliseconds: number, onStall: () => void): Progress {
  const timer = setTimeout(() => {
    const isClientSlow = !incoming.complete && !incoming.isPaused();
    if (isClientSlow) timer.refresh();
    else onStall();
  }, milliseconds);
  return { made: () => timer.refresh(), stop: () => clearTimeout(timer) };
}
