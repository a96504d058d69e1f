import type { Server } from "node:http";
import type { Socket } from "node:net";
import { ApiError, type ErrorDetails } from "@pragma/contracts/errors";
import { CountByKey } from "@pragma/runtime/count-by-key";
import { type Rate, TokenBucket } from "@pragma/runtime/token-bucket";
import { LRUCache } from "lru-cache";
import { networkOf } from "./client-address.ts";
import { findCredential } from "./credential.ts";
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

  /**
   * Takes one token of an address.
   *
   * @throws `ApiError` rate_limited, in these words, when there is none.
   */
  take(address: string, refusal: Pick<ErrorDetails, "detail" | "limit">): void {
    const bucket = this.#buckets.memo(networkOf(address));
    if (bucket.take(this.#now())) return;
    const seconds = Math.max(1, Math.ceil(bucket.wait(this.#now()) / 1000));
    throw new ApiError("rate_limited", { ...refusal, headers: { "retry-after": String(seconds) } });
  }

  refund(address: string): void {
    this.#buckets.memo(networkOf(address)).refund(this.#now());
  }
}

const prefixes = Object.keys(routeTable);

/** Whether a key is asked for at a path, so that the request is limited by its key. */
function needsKey(path: string): boolean {
  const isAt = (prefix: string) => path === prefix || path.startsWith(`${prefix}/`);
  return isAt("/openapi.full.json") || prefixes.some(isAt);
}

/** Limits requests whose key nobody looks at by the client's address: those with one are limited by their key. */
export function addressLimit(rate: Rate): GatewayMiddleware {
  const buckets = new AddressBuckets(rate);
  const refusal = {
    detail: `An address may make ${rate.perSecond} requests without a key a second, and ${rate.burst} at once.`,
    limit: { name: "keyless_requests", maximum: rate.perSecond, unit: "requests per second" },
  };
  return async (context, next) => {
    const request = context.get("request");
    const { method, headers } = request.incoming;
    const hasKey = findCredential(headers.authorization) !== undefined && method !== "OPTIONS" && method !== "TRACE";
    if (hasKey && needsKey(request.path)) return next();
    buckets.take(request.address, refusal);
    return next();
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
  const open = new CountByKey();
  server.on("connection", (socket: Socket) => {
    const network = networkOf(socket.remoteAddress ?? "unknown");
    if (open.of(network) >= maxPerAddress) return void socket.destroy();
    open.add(1, network);
    socket.once("close", () => open.add(-1, network));
  });
}
