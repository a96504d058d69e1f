import { EventEmitter } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { ApiError } from "@pragma/contracts/errors";
import { hasBody, openBody } from "@pragma/runtime/read-body";
import { createSemaphore } from "@pragma/runtime/semaphore";
import type { RemoteService } from "@pragma/runtime/service-registry";
import { isTransient } from "@pragma/runtime/transient-error";
import { type Dispatcher, errors, Pool } from "undici";
import type { GatewayContext, GatewayRequest } from "./gateway-request.ts";

export interface ForwardTimeouts {
  /** How long a service may take to begin its response, and one of another process to go on with it. */
  responseMs: number;
  /** How long a stream may be silent. */
  streamMs: number;
}

/** Connections to one service, and requests that wait for one. */
const maxConnections = 256;
const maxQueued = 1_000;
/** How many connections the uploads of one key may hold. */
const maxUploadsPerKey = 16;
/** Bodies and responses up to this size are taken whole before they are sent; larger ones are passed on as they come. */
const maxBufferedBytes = 64 * 1024;

/**
 * What a service hears of a client's headers: what it reads, and nothing else. So nothing that a client sends can take
 * the place of the gateway's own headers or of what frames the request.
 */
const forwardedHeaders = [
  "accept",
  "content-encoding",
  "content-type",
  "idempotency-key",
  "if-match",
  "if-none-match",
  "last-event-id",
  "user-agent",
] as const satisfies (keyof IncomingHttpHeaders)[] | string[];

/** Hop-by-hop headers, and headers that the gateway sets. */
const notForClients = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-request-id",
]);

/** Forwards requests to a service of another process. */
export function createHttpForwarder({ url, sign }: RemoteService, timeouts: ForwardTimeouts) {
  const options: Pool.Options = {
    pipelining: 1,
    keepAliveTimeout: 60_000,
    headersTimeout: timeouts.responseMs,
    bodyTimeout: timeouts.responseMs,
    connect: { timeout: 5_000 },
  };
  const pool = new Pool(url, { ...options, connections: maxConnections });
  // Streams hold a connection each for as long as their clients like: they take none of the others.
  const streams = new Pool(url, { ...options, bodyTimeout: timeouts.streamMs });

  const uploads = createSemaphore(maxUploadsPerKey);

  async function send(request: GatewayRequest, target: string, abort: EventEmitter): Promise<Dispatcher.ResponseData> {
    const { incoming, outgoing, requestId, traceparent, origin, principal } = request;
    const method = incoming.method as Dispatcher.HttpMethod;
    const signed = sign({ method, target, requestId, traceparent, origin, principal });
    if (pool.stats.queued >= maxQueued) {
      throw new ApiError("overloaded", {
        detail: "More requests are waiting for this service than it can answer. Try again in a moment.",
      });
    }
    const body = isUpload(incoming) ? openBody(incoming) : hasBody(incoming) ? await buffer(openBody(incoming)) : null;
    if (outgoing.destroyed) throw new errors.RequestAbortedError();
    return (request.isStream ? streams : pool).request({
      method,
      path: target,
      headers: { ...forwardedFrom(incoming), ...signed },
      body,
      signal: abort,
    });
  }

  async function forward(context: GatewayContext): Promise<Response> {
    const request = context.get("request");
    const { incoming, outgoing } = request;
    // Undici takes an emitter too: an AbortController costs a request several times as much.
    const abort = new EventEmitter();
    let isGone = false;
    if (outgoing.destroyed) return RESPONSE_ALREADY_SENT;
    outgoing.once("close", () => {
      isGone = request.isAborted || request.isEnded;
      if (isGone) abort.emit("abort");
    });
    const target = targetOf(context.req.url);
    const reply = await send(request, target, abort).catch((error: unknown) => {
      if (!canRetry(incoming, error)) throw error;
      request.isRetried = true;
      return send(request, target, abort);
    });
    const headers = headersForClient(reply.headers);
    const isBuffered = incoming.method === "HEAD" || Number(reply.headers["content-length"]) <= maxBufferedBytes;
    if (isBuffered || reply.statusCode === 204 || reply.statusCode === 304) {
      const body = await reply.body.bytes();
      return new Response(body.length === 0 ? null : (body as Uint8Array<ArrayBuffer>), {
        status: reply.statusCode,
        headers,
      });
    }
    if (request.isEnded) reply.body.destroy();
    request.throwIfEnded();
    outgoing.writeHead(reply.statusCode, headers);
    outgoing.flushHeaders();
    let brokenOff: unknown;
    reply.body.once("error", (error) => {
      if (!isGone) brokenOff = error;
    });
    // Each step of the request listens to its end, and pipeline several times: Node warns from eleven on.
    outgoing.setMaxListeners(20);
    await pipeline(reply.body, outgoing).catch(() => {});
    if (brokenOff !== undefined) throw brokenOff;
    return RESPONSE_ALREADY_SENT;
  }

  return {
    forward(context: GatewayContext): Promise<Response> {
      const { incoming, principal } = context.get("request");
      const response = isUpload(incoming) ? uploads.run(() => forward(context), principal.keyId) : forward(context);
      return response.catch((error) => {
        throw asApiError(error);
      });
    },
    async close(): Promise<void> {
      await Promise.all([pool.destroy(), streams.destroy()]);
    },
  };
}

/** Whether a body is passed on as it comes. A small one is taken whole first: however slowly it comes, it holds no connection. */
function isUpload(incoming: IncomingMessage): boolean {
  const length = incoming.headers["content-length"];
  return hasBody(incoming) && (length === undefined || Number(length) > maxBufferedBytes);
}

/** Path and query of a request's URL. */
function targetOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const fragment = url.indexOf("#", start);
  return url.slice(start, fragment === -1 ? undefined : fragment);
}

function forwardedFrom({ headers, method }: IncomingMessage): Record<string, string> {
  const forwarded: Record<string, string> = {};
  for (const name of forwardedHeaders) {
    const value = headers[name];
    if (value !== undefined) forwarded[name] = String(value);
  }
  // The length that node has checked; undici refuses to send another number of bytes than it says.
  const length = headers["content-length"];
  if (length !== undefined && method !== "GET" && method !== "HEAD") forwarded["content-length"] = length;
  return forwarded;
}

function headersForClient(headers: IncomingHttpHeaders): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && !notForClients.has(name)) passed[name] = value as string;
  }
  return passed;
}

/** A request that changes nothing is tried once more when its connection was closed before anything came back. */
function canRetry({ method }: IncomingMessage, error: unknown): boolean {
  return (method === "GET" || method === "HEAD") && isClosed(error);
}

function isClosed(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return error instanceof errors.SocketError || code === "ECONNRESET" || code === "EPIPE";
}

export function upstreamTimeout(cause?: unknown): ApiError {
  return new ApiError("upstream_timeout", { detail: "The service took too long. Try again in a moment.", cause });
}

function asApiError(cause: unknown): unknown {
  if (cause instanceof ApiError) return cause;
  if (cause instanceof errors.HeadersTimeoutError || cause instanceof errors.BodyTimeoutError) {
    return upstreamTimeout(cause);
  }
  if (!isClosed(cause) && !(cause instanceof errors.UndiciError) && !isTransient(cause)) return cause;
  return new ApiError("service_unavailable", {
    detail: isClosed(cause)
      ? "The service went away while it was asked. What was asked may or may not have been done."
      : "The service cannot be reached. Nothing was done; try again in a moment.",
    cause,
  });
}
