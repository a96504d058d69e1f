import type { Server } from "node:http";
import type { Socket } from "node:net";
import { ApiError, type ApiErrorOptions } from "@pragma/contracts/errors";
import { KeyedCounter } from "@pragma/runtime/limits/keyed-counter";
import { TokenBucket, type TokenBucketRate } from "@pragma/runtime/limits/token-bucket";
import { LRUCache } from "lru-cache";
import { readApiKeyHeader } from "../auth/api-key-header.ts";
import { routeTable } from "../forwarding/route-table.ts";
import { clientNetworkOf } from "../server/client-address.ts";
import type { GatewayMiddleware } from "../server/gateway-request.ts";

/** How many addresses are remembered; the one unused for longest is forgotten first. */
const maxTrackedAddresses = 50_000;

/** Token buckets by client address. */
export class AddressTokenBuckets {
  readonly #buckets: LRUCache<string, TokenBucket>;
  readonly #now: () => number;

  constructor(rate: TokenBucketRate, now: () => number = Date.now) {
    this.#now = now;
    this.#buckets = new LRUCache({ max: maxTrackedAddresses, memoMethod: () => new TokenBucket(rate, now()) });
  }

  /**
   * Takes one token of an address.
   *
   * @throws `ApiError` rate_limited, in these words, when there is none.
   */
  takeOrThrow(address: string, errorDetails: Pick<ApiErrorOptions, "detail" | "limit">): void {
    const bucket = this.#buckets.memo(clientNetworkOf(address));
    if (bucket.take(this.#now())) return;
    const retryAfterSeconds = Math.max(1, Math.ceil(bucket.getWaitMs(this.#now()) / 1000));
    throw new ApiError("rate_limited", { ...errorDetails, headers: { "retry-after": String(retryAfterSeconds) } });
  }

  refundToken(address: string): void {
    this.#buckets.memo(clientNetworkOf(address)).refund(this.#now());
  }
}

const routePrefixes = Object.keys(routeTable);

/** Whether a key is asked for at a path, so that the request is limited by its key. */
function requiresKey(path: string): boolean {
  const isAt = (prefix: string) => path === prefix || path.startsWith(`${prefix}/`);
  return isAt("/openapi.full.json") || routePrefixes.some(isAt);
}

/** Limits requests whose key nobody looks at by the client's address: those with one are limited by their key. */
export function keylessRequestLimitMiddleware(rate: TokenBucketRate): GatewayMiddleware {
  const buckets = new AddressTokenBuckets(rate);
  const errorDetails = {
    detail: `An address may make ${rate.perSecond} requests without a key a second, and ${rate.burst} at once.`,
    limit: { name: "keyless_requests", maximum: rate.perSecond, unit: "requests per second" },
  };
  return async (context, next) => {
    const request = context.get("request");
    const { method, headers } = request.incoming;
    const hasKey = readApiKeyHeader(headers.authorization) !== undefined && method !== "OPTIONS" && method !== "TRACE";
    if (hasKey && requiresKey(request.path)) return next();
    buckets.takeOrThrow(request.clientAddress, errorDetails);
    return next();
  };
}

interface ConnectionLimits {
  maxConnections: number;
  /** Of one address; undefined behind a proxy, whose address all clients have. */
  maxConnectionsPerAddress: number | undefined;
}

/** Limits the connections of a server, and those of each address. What exceeds a limit is closed at once. */
export function limitServerConnections(
  server: Server,
  { maxConnections, maxConnectionsPerAddress }: ConnectionLimits,
): void {
  server.maxConnections = maxConnections;
  if (maxConnectionsPerAddress === undefined) return;
  const openConnections = new KeyedCounter();
  server.on("connection", (socket: Socket) => {
    const network = clientNetworkOf(socket.remoteAddress ?? "unknown");
    if (openConnections.get(network) >= maxConnectionsPerAddress) return void socket.destroy();
    openConnections.add(1, network);
    socket.once("close", () => openConnections.add(-1, network));
  });
}
