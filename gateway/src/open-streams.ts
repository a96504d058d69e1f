import { ApiError } from "@pragma/contracts/errors";
import type { GatewayMiddleware, GatewayRequest } from "./gateway-request.ts";
import type { KnownKey } from "./key-cache.ts";

/** The responses that go on for as long as their clients like, each for as long as its key stays what it was. */
export type OpenStreams = ReturnType<typeof createOpenStreams>;

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

export function createOpenStreams({ findKey, checkIntervalMs, idleTimeoutMs }: OpenStreamsOptions) {
  /** With how many times in a row its key could not be looked up. */
  const open = new Map<GatewayRequest, number>();
  const timer = setInterval(() => void checkKeys(), checkIntervalMs).unref();
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

  /** Looks each key up again, and ends the streams of those that changed. */
  async function checkKeys(): Promise<void> {
    await Promise.all([...open.keys()].map(check));
  }

  return {
    checkKeys,
    /**
     * Tracks a request whose response is a stream.
     *
     * @throws `ApiError` service_unavailable when the gateway is stopping.
     */
    add(request: GatewayRequest): void {
      if (isClosed) throw new ApiError("service_unavailable");
      const { outgoing } = request;
      if (outgoing.destroyed) return;
      open.set(request, 0);
      outgoing.setTimeout(idleTimeoutMs, () => outgoing.destroy());
      // A change since the key was accepted was not sent to this stream.
      void check(request);
    },
    /** Forgets a request that is over. */
    remove: (request: GatewayRequest) => void open.delete(request),
    /** Ends the streams of a key that was revoked or changed: its clients may connect again. */
    keyChanged(keyId: string, isRevoked: boolean): void {
      for (const request of [...open.keys()]) {
        if (request.key?.principal.keyId === keyId) request.endStream(isRevoked ? "key_revoked" : undefined);
      }
    },
    /** Ends every stream, and those that are still to begin. */
    close(): void {
      isClosed = true;
      clearInterval(timer);
      for (const request of [...open.keys()]) request.endStream();
    },
    get size(): number {
      return open.size;
    },
  };
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
