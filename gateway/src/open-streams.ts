import { ApiError } from "@pragma/contracts/errors";
import type { Authenticate } from "./authenticate.ts";
import type { Exchange } from "./exchange.ts";

/** The replies that go on for as long as their clients like, each for as long as its key stays what it was. */
export interface OpenStreams {
  /** Called for a reply that has begun. */
  add(exchange: Exchange): void;
  /** Called for every exchange that is over. */
  remove(exchange: Exchange): void;
  /** A key was revoked, or may do something else from now on: its clients may ask again. */
  keyChanged(keyId: string): void;
  /** Looks each key up again, and ends the streams of those that are no longer what they were. */
  checkKeys(): Promise<void>;
  /** Ends every stream, those that are still to begin too. */
  close(): void;
  readonly size: number;
}

interface OpenStreamsOptions {
  authenticate: Authenticate;
  /** How often keys are looked up again, in milliseconds, should nothing be heard of their revocation. */
  checkTime: number;
  /** How long a stream may go without anything said or taken, in milliseconds: one side is no longer there. */
  idleTime: number;
}

/** How many times in a row a key may be impossible to look up before its streams end, as its requests do. */
const mostMisses = 5;

export function createOpenStreams({ authenticate, checkTime, idleTime }: OpenStreamsOptions): OpenStreams {
  /** With how many times in a row its key could not be looked up. */
  const open = new Map<Exchange, number>();
  const timer = setInterval(() => void streams.checkKeys(), checkTime).unref();
  let isClosed = false;

  async function check(exchange: Exchange): Promise<void> {
    try {
      const { authorization } = exchange.incoming.headers;
      const { principal } = await authenticate(authorization, () => exchange.address);
      if (JSON.stringify(principal) !== JSON.stringify(exchange.key?.principal)) exchange.endStream();
      else if (open.has(exchange)) open.set(exchange, 0);
    } catch (error) {
      const misses = (open.get(exchange) ?? 0) + 1;
      if (open.has(exchange)) open.set(exchange, misses);
      const isAway = error instanceof ApiError && error.code === "service_unavailable";
      if (!isAway || misses >= mostMisses) exchange.endStream();
    }
  }

  const streams: OpenStreams = {
    add(exchange) {
      if (isClosed) return exchange.endStream();
      open.set(exchange, 0);
      const { outgoing } = exchange;
      outgoing.setTimeout(idleTime, () => outgoing.destroy());
      // What changed since it was let in was told to streams that had begun.
      void check(exchange);
    },
    remove: (exchange) => void open.delete(exchange),
    keyChanged(keyId) {
      for (const exchange of [...open.keys()]) {
        if (exchange.key?.principal.keyId === keyId) exchange.endStream();
      }
    },
    async checkKeys() {
      await Promise.all([...open.keys()].map(check));
    },
    close() {
      isClosed = true;
      clearInterval(timer);
      for (const exchange of [...open.keys()]) exchange.endStream();
    },
    get size() {
      return open.size;
    },
  };
  return streams;
}
