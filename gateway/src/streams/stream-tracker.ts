import { ApiError } from "@pragma/contracts/errors";
import type { CachedApiKey, GatewayMiddleware, GatewayRequest } from "../server/gateway-request.ts";

/** Tracks open streams, and ends those whose API key is revoked or changed. */
export type OpenStreamTracker = ReturnType<typeof createStreamTracker>;

interface StreamTrackerOptions {
  /** Returns the current state of the key in an authorization header; null when it does not exist. */
  findKey(authorization: string | undefined): Promise<CachedApiKey | null>;
  /** How often the keys of open streams are checked, in case a revocation event was missed. */
  keyCheckIntervalMs: number;
  /** A stream is closed when nothing is written or read for this time: one side is probably gone. */
  idleTimeoutMs: number;
}

/** Consecutive failed lookups of a key after which its streams end, as requests with that key then fail too. */
const maxLookupFailures = 5;

export function createStreamTracker({ findKey, keyCheckIntervalMs, idleTimeoutMs }: StreamTrackerOptions) {
  /** The values count the consecutive failed lookups of the stream's key. */
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

  /** Looks up the key of every open stream, and ends the streams whose key was changed or revoked. */
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
      // The key may have changed after it was authenticated and before the stream was tracked.
      void recheckKey(request);
    },
    /** Stops tracking a finished request. */
    remove: (request: GatewayRequest) => void openStreams.delete(request),
    /** Ends the streams of a changed or revoked key. After a change, its clients may reconnect. */
    endStreamsOfKey(keyId: string, isRevoked: boolean): void {
      for (const request of [...openStreams.keys()]) {
        if (request.key?.principal.keyId === keyId) request.endStream(isRevoked ? "key_revoked" : undefined);
      }
    },
    /** Ends every stream, and rejects new ones. */
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

/** Marks and tracks a request whose response stays open until the client closes it. */
export function streamTrackingMiddleware(streams: OpenStreamTracker): GatewayMiddleware {
  return (context, next) => {
    const request = context.get("request");
    request.isStream = true;
    streams.add(request);
    return next() as Promise<undefined>;
  };
}
