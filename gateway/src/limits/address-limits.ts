import type { Server } from "node:http";
import type { Socket } from "node:net";
import { ApiError, type ExceededLimit } from "@pragma/contracts/errors";
import { Admission } from "@pragma/runtime/admission/admission";
import { locationLimits } from "@pragma/runtime/admission/limits";
import { TokenBucket, type TokenBucketRate } from "@pragma/runtime/admission/token-bucket";
import { getClientIpNetwork } from "@pragma/runtime/http/client-network";
import { LRUCache } from "lru-cache";
import { readApiKeyHeader } from "../auth/api-key-header.ts";
import { keylessRoutes, mcpPath, routeTable } from "../forwarding/route-table.ts";
import type { GatewayMiddleware } from "../server/gateway-request.ts";

/** Maximum number of buckets in memory. When it is reached, the least recently used bucket is removed. */
const maxTrackedAddresses = 50_000;

/** A set of token buckets for the same requests, one for each client network. */
export class ClientAddressTokenBuckets {
  readonly #buckets: LRUCache<string, TokenBucket>;
  readonly #error: { detail: string; limit?: ExceededLimit };

  /** `requests` begins the error text: "Requests without an API key". `limit` is part of the error. */
  constructor(requests: string, rate: TokenBucketRate, limit?: ExceededLimit) {
    const detail = `${requests} are limited to ${rate.perSecond} per second per IP address, with bursts of up to ${rate.burst}.`;
    this.#error = { detail, ...(limit && { limit }) };
    this.#buckets = new LRUCache({ max: maxTrackedAddresses, memoMethod: () => new TokenBucket(rate, Date.now()) });
  }

  /** Removes one token from the bucket of an address. @throws `ApiError` rate_limited if the bucket is empty. */
  takeOrThrow(address: string): void {
    const bucket = this.#buckets.memo(getClientIpNetwork(address));
    if (bucket.take(Date.now())) return;
    const retryAfterSeconds = Math.max(1, Math.ceil(bucket.getWaitMs(Date.now()) / 1000));
    throw new ApiError("rate_limited", { ...this.#error, headers: { "retry-after": String(retryAfterSeconds) } });
  }

  refundToken(address: string): void {
    this.#buckets.memo(getClientIpNetwork(address)).refund(Date.now());
  }
}

/** The paths whose requests must be authenticated by an API key, each with all paths below it. */
const pathsWithKey = ["/openapi.full.json", mcpPath, ...Object.keys(routeTable)];

/** Returns middleware that limits unauthenticated requests by client address. Other requests are limited by API key. */
export function createKeylessRequestLimit(rate: TokenBucketRate): GatewayMiddleware {
  const buckets = new ClientAddressTokenBuckets("Requests without an API key", rate, {
    name: "keyless_requests",
    maximum: rate.perSecond,
    unit: "requests per second",
  });
  return async (context, next) => {
    const request = context.get("request");
    const { method, headers } = request.incoming;
    const hasKey = readApiKeyHeader(headers.authorization) !== undefined && method !== "OPTIONS" && method !== "TRACE";
    if (!hasKey || !requiresKey(method, request.path)) buckets.takeOrThrow(request.clientAddress);
    return next();
  };
}

function requiresKey(method: string | undefined, path: string): boolean {
  const isKeyless = keylessRoutes.some((route) => route.method === method && route.path === path.replace(/\/$/, ""));
  return !isKeyless && pathsWithKey.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
}

/** Limits the connections of a server per client network. Closes connections that exceed the limit. */
export function limitConnectionsPerAddress(server: Server, maxConnectionsPerAddress: number): void {
  const openConnections = new Admission({ ...locationLimits.connections, perSender: maxConnectionsPerAddress });
  server.on("connection", (socket: Socket) => {
    const network = getClientIpNetwork(socket.remoteAddress ?? "unknown");
    if (openConnections.findError(network)) return void socket.destroy();
    const release = openConnections.holdBeyondLimit(network);
    socket.once("close", () => release());
  });
}
