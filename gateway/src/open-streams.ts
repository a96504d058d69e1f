import { ApiError } from "@pragma/contracts/errors";
import type { GatewayMiddleware, GatewayRequest } from "./gateway-request.ts";
import type { KnownKey } from "./key-cache.ts";

/** The responses that go on for as long as their clients like, each for as long as its key stays what it was. */
export interface OpenStreams {
  /**
   * Tracks a request whose response is a stream.
   *
   * @throws `ApiError` service_unavailable when the gateway is stopping.
   */
  add(request: GatewayRequest): void;
  /** Forgets a request that is over. */
  remove(request: GatewayRequest): void;
  /** Ends the streams of a key that was revoked or changed: its clients may connect again. */
  keyChanged(keyId: string, isRevoked: boolean): void;
  /** Looks each key up again, and ends the streams of those that changed. */
  checkKeys(): Promise<void>;
  /** Ends every stream, and those that are still to begin. */
  close(): void;
  readonly size: number;
}

interface OpenStreamsOptions {
  /** Returns what the key in an authorization header stands for now; null when there is none. */
  findKey(authorization: string | undefined): Promise<KnownKey | null>;
  /** How often keys are looked up again, in case a revocation was not heard. */
  checkIntervalMs: number;
  /** How long a stream may go without anything written or taken: one side is no longer there. */
  idleTimeoutMs: number;
}

/** How many times in a row a key may be impossible to look up before its streams end, as its requests do. */
const maxMisses = 5;

export function createOpenStreams({ findKey, checkIntervalMs, idleTimeoutMs }: OpenStreamsOptions): OpenStreams {
  /** With how many times in a row its key could not be looked up. */
  const open = new Map<GatewayRequest, number>();
  const timer = setInterval(() => void streams.checkKeys(), checkIntervalMs).unref();
  let isClosed = false;

  async function check(request: GatewayRequest): Promise<void> {
    try {
      const key = await findKey(request.incoming.headers.authorization);
      if (!key || key.isRevoked) request.endStream("key_revoked");
      else if (JSON.stringify(key.principal) !== JSON.stringify(request.key?.principal)) request.endStream();
      else if (open.has(request)) open.set(request, 0);
    } catch {
      const misses = (open.get(request) ?? 0) + 1;
      if (open.has(request)) open.set(request, misses);
      if (misses >= maxMisses) request.endStream();
    }
  }

  const streams: OpenStreams = {
    add(request) {
      if (isClosed) throw new ApiError("service_unavailable", { headers: { "retry-after": "2" } });
      const { outgoing } = request;
      if (outgoing.destroyed) return;
      open.set(request, 0);
      outgoing.setTimeout(idleTimeoutMs, () => outgoing.destroy());
      // A change since the key was accepted was not sent to this stream.
      void check(request);
    },
    remove: (request) => void open.delete(request),
    keyChanged(keyId, isRevoked) {
      for (const request of [...open.keys()]) {
        if (request.key?.principal.keyId === keyId) request.endStream(isRevoked ? "key_revoked" : undefined);
      }
    },
    async checkKeys() {
      await Promise.all([...open.keys()].map(check));
    },
    close() {
      isClosed = true;
      clearInterval(timer);
      for (const request of [...open.keys()]) request.endStream();
    },
    get size() {
      return open.size;
    },
  };
  return streams;
}

/** Marks a request whose response goes on for as long as the client likes. */
export function trackStream(streams: OpenStreams): GatewayMiddleware {
  return (context, next) => {
    const request = context.get("request");
    request.isStream = true;
    streams.add(request);
    return next() as Promise<undefined>;
  };
}
