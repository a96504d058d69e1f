import type { Server } from "node:http";
import type { Socket } from "node:net";
import { ApiError } from "@pragma/contracts/errors";
import { type Rate, TokenBucket } from "@pragma/runtime/token-bucket";
import { LRUCache } from "lru-cache";
import { networkOf } from "./client-address.ts";
import type { GatewayMiddleware } from "./gateway-request.ts";
import { routeTable } from "./route-table.ts";

/** How many addresses are remembered; the one unused for longest is forgotten first. */
const maxAddresses = 50_000;

/** Token buckets by client address. */
export class AddressBuckets {
  readonly #buckets: LRUCache<string, TokenBucket>;
  readonly #now: () => number;

  constructor(rate: Rate, now: () => number = Date.now) {
    this.#now = now;
    this.#buckets = new LRUCache({ max: maxAddresses, memoMethod: () => new TokenBucket(rate, now()) });
  }

  /** Takes one token of an address. Returns 0, or the seconds after which there is one again. */
  take(address: string): number {
    const bucket = this.#buckets.memo(networkOf(address));
    return bucket.take(this.#now()) ? 0 : Math.max(1, Math.ceil(bucket.wait(this.#now()) / 1000));
  }

  refund(address: string): void {
    this.#buckets.memo(networkOf(address)).refund(this.#now());
  }
}

const prefixes = Object.keys(routeTable);

/** Whether a key is asked for at a path, so that the request is limited by its key. */
function needsKey(path: string): boolean {
  return path.startsWith("/openapi.full.json") || prefixes.some((prefix) => path.startsWith(prefix));
}

/** Limits requests whose key nobody looks at by the client's address: those with one are limited by their key. */
export function addressLimit(rate: Rate): GatewayMiddleware {
  const buckets = new AddressBuckets(rate);
  return async (context, next) => {
    const request = context.get("request");
    const { method, headers } = request.incoming;
    const hasKey = headers.authorization !== undefined && method !== "OPTIONS" && method !== "TRACE";
    if (hasKey && needsKey(request.path)) return next();
    const retryAfter = buckets.take(request.address);
    if (retryAfter === 0) return next();
    throw new ApiError("rate_limited", {
      detail: `An address may make ${rate.perSecond} requests without a key a second, and ${rate.burst} at once.`,
      limit: { name: "keyless_requests", maximum: rate.perSecond, unit: "requests per second" },
      headers: { "retry-after": String(retryAfter) },
    });
  };
}

interface ConnectionLimits {
  maxConnections: number;
  /** Of one address; undefined behind a proxy, whose address all clients have. */
  maxPerAddress: number | undefined;
}

/** Limits the connections of a server, and those of each address. What exceeds a limit is closed at once. */
export function limitConnections(server: Server, { maxConnections, maxPerAddress }: ConnectionLimits): void {
  server.maxConnections = maxConnections;
  if (maxPerAddress === undefined) return;
  const open = new Map<string, number>();
  server.on("connection", (socket: Socket) => {
    const network = networkOf(socket.remoteAddress ?? "unknown");
    const count = (open.get(network) ?? 0) + 1;
    if (count > maxPerAddress) {
      socket.destroy();
      return;
    }
    open.set(network, count);
    socket.once("close", () => {
      const left = (open.get(network) ?? 1) - 1;
      if (left === 0) open.delete(network);
      else open.set(network, left);
    });
  });
}
