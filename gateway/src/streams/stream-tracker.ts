import { ApiError } from "@pragma/contracts/errors";
import { type CachedApiKey, type GatewayRequestState, getApiKeyRejection } from "../server/gateway-request.ts";

/** Tracks open streams and ends a stream if its API key is revoked or changed. */
export type KeyCheckedStreamTracker = ReturnType<typeof createKeyCheckedStreamTracker>;

interface StreamTrackerOptions {
  /** Returns the current state of the key in an Authorization header, or null if the key does not exist. */
  findKey(authorization: string | undefined): Promise<CachedApiKey | null>;
  /** Milliseconds between two checks of the keys of open streams. Checks detect revocations whose event was lost. */
  keyCheckIntervalMs: number;
  /** Milliseconds without traffic after which a stream is closed, because the connection is probably lost. */
  idleTimeoutMs: number;
}

/**
 * Number of consecutive failed key lookups after which a stream ends. More than one, so that a short outage of accounts
 * does not end streams.
 */
const maxLookupFailures = 5;

export function createKeyCheckedStreamTracker({ findKey, keyCheckIntervalMs, idleTimeoutMs }: StreamTrackerOptions) {
  /** The open streams, with the number of consecutive failed lookups of each stream's key. */
  const openStreams = new Map<GatewayRequestState, number>();
  const timer = setInterval(() => void recheckKeys(), keyCheckIntervalMs).unref();
  let isClosed = false;

  async function recheckKey(request: GatewayRequestState): Promise<void> {
    try {
      const key = await findKey(request.incoming.headers.authorization);
      const rejection = key ? getApiKeyRejection(key) : "key_revoked";
      if (!key || rejection) request.endStream(rejection);
      else if (JSON.stringify(key.principal) !== JSON.stringify(request.key?.principal)) request.endStream();
      else if (openStreams.has(request)) openStreams.set(request, 0);
    } catch {
      const failures = (openStreams.get(request) ?? 0) + 1;
      if (openStreams.has(request)) openStreams.set(request, failures);
      if (failures >= maxLookupFailures) request.endStream();
    }
  }

  /** Looks up the keys of all open streams. Ends each stream whose key was changed or revoked. */
  async function recheckKeys(): Promise<void> {
    await Promise.all([...openStreams.keys()].map(recheckKey));
  }

  return {
    checkKeys: recheckKeys,
    /**
     * Marks a request as one whose response is a stream, and tracks it.
     *
     * @throws `ApiError` service_unavailable when the gateway is stopping.
     */
    add(request: GatewayRequestState): void {
      request.isStream = true;
      if (isClosed) throw new ApiError("service_unavailable");
      const { outgoing } = request;
      if (outgoing.destroyed) return;
      openStreams.set(request, 0);
      outgoing.setTimeout(idleTimeoutMs, () => outgoing.destroy());
      // The key is checked again, because a change between its authentication and this call did not end the stream.
      void recheckKey(request);
    },
    remove: (request: GatewayRequestState) => void openStreams.delete(request),
    /** Ends the streams of a changed or revoked key. Clients can reconnect with a changed key. */
    endStreamsOfKey(keyId: string, isRevoked: boolean): void {
      for (const request of [...openStreams.keys()]) {
        if (request.key?.principal.keyId === keyId) request.endStream(isRevoked ? "key_revoked" : undefined);
      }
    },
    /** Ends all streams and rejects new streams. */
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
