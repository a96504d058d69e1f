import { ApiError } from "@pragma/contracts/errors";
import type { CachedApiKey } from "../auth/key-cache.ts";
import type { GatewayMiddleware, GatewayRequest } from "../server/gateway-request.ts";

/** The responses that go on for as long as their clients like, each for as long as its key stays what it was. */
export type StreamTracker = ReturnType<typeof createStreamTracker>;

interface StreamTrackerOptions {
  /** Returns what the key in an authorization header stands for now; null when there is none. */
  findKey(authorization: string | undefined): Promise<CachedApiKey | null>;
  /** How often keys are looked up again, in case a revocation was not heard. */
  keyCheckIntervalMs: number;
  /** How long a stream may go without anything written or taken: one side is no longer there. */
  idleTimeoutMs: number;
}

/** How many times in a row a key may be impossible to look up before its streams end, as its requests do. */
const maxLookupFailures = 5;

export function createStreamTracker({ findKey, keyCheckIntervalMs, idleTimeoutMs }: StreamTrackerOptions) {
  /** With how many times in a row its key could not be looked up. */
  const openStreams = new Map<GatewayRequest, number>();
  const timer = setInterval(() => void recheckKeys(), keyCheckIntervalMs).unref();
  let isClosed = false;

  async function recheckKey(request: GatewayRequest): Promise<void> {
    try {
      const key = await findKey(request.incoming.headers.authorization);
      if (!key || key.isRevoked) request.endStream("key_revoked");
      else if (JSON.stringify(key.principal) !== JSON.stringify(request.key?.principal)) request.endStream();
      else if (openStreams.has(request)) openStreams.set(request, 0);
    } catch {
      const failures = (openStreams.get(request) ?? 0) + 1;
      if (openStreams.has(request)) openStreams.set(request, failures);
      if (failures >= maxLookupFailures) request.endStream();
    }
  }

  /** Looks each key up again, and ends the streams of those that changed. */
  async function recheckKeys(): Promise<void> {
    await Promise.all([...openStreams.keys()].map(recheckKey));
  }

  return {
    checkKeys: recheckKeys,
    /**
     * Tracks a request whose response is a stream.
     *
     * @throws `ApiError` service_unavailable when the gateway is stopping.
     */
    add(request: GatewayRequest): void {
      if (isClosed) throw new ApiError("service_unavailable");
      const { outgoing } = request;
      if (outgoing.destroyed) return;
      openStreams.set(request, 0);
      outgoing.setTimeout(idleTimeoutMs, () => outgoing.destroy());
      // A change since the key was accepted was not sent to this stream.
      void recheckKey(request);
    },
    /** Forgets a request that is over. */
    remove: (request: GatewayRequest) => void openStreams.delete(request),
    /** Ends the streams of a key that was revoked or changed: its clients may connect again. */
    endStreamsOfKey(keyId: string, isRevoked: boolean): void {
      for (const request of [...openStreams.keys()]) {
        if (request.key?.principal.keyId === keyId) request.endStream(isRevoked ? "key_revoked" : undefined);
      }
    },
    /** Ends every stream, and those that are still to begin. */
    close(): void {
      isClosed = true;
      clearInterval(timer);
      for (const request of [...openStreams.keys()]) request.endStream();
    },
    get size(): number {
      return openStreams.size;
    },
  };
}

/** Marks a request whose response goes on for as long as the client likes. */
export function streamTrackingMiddleware(streams: StreamTracker): GatewayMiddleware {
  return (context, next) => {
    const request = context.get("request");
    request.isStream = true;
    streams.add(request);
    return next() as Promise<undefined>;
  };
}
