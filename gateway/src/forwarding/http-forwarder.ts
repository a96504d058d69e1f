import type { Hmac } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { setImmediate as nextEventLoopIteration } from "node:timers/promises";
import { ApiError, apiErrorDefinitions, type RequestIssue } from "@pragma/contracts/errors";
import { Admission } from "@pragma/runtime/admission/admission";
import { locationLimits } from "@pragma/runtime/admission/limits";
import { createRequestBodyStream, hasRequestBody } from "@pragma/runtime/http/read-body";
import { getSenderId, type RequestPrincipalAndMetadata } from "@pragma/runtime/http/request-identity";
import { isTransient } from "@pragma/runtime/retries/transient-error";
import { bodySignatureBytes } from "@pragma/runtime/service-calls/body-signature";
import { createConnectionWait } from "@pragma/runtime/service-calls/connection-wait";
import type { RemoteService } from "@pragma/runtime/service-calls/service-registry";
import { type Dispatcher, errors, Pool } from "undici";
import type { GatewayHonoContext } from "../server/gateway-request.ts";
import { responseAlreadySent } from "../server/response-already-sent.ts";
import { requestUpstream, type UpstreamResponse } from "./upstream-response.ts";

export interface ForwardTimeouts {
  /** For the start of a service's response. If the service runs in another process, also for each later chunk. */
  responseTimeoutMs: number;
  /** Maximum milliseconds between two chunks of a stream. */
  streamIdleTimeoutMs: number;
  /** How long requests wait for a service in another process that does not accept connections, in milliseconds. */
  connectWaitMs: number;
}

/**
 * Bodies of requests and responses up to this size, in bytes, are buffered. Larger bodies and bodies of unknown length
 * are streamed.
 */
const maxBufferedBytes = 64 * 1024;

/**
 * The client headers that are forwarded, in addition to Content-Length. All other headers are dropped, so that clients
 * cannot override the headers that the gateway adds, or send Transfer-Encoding to the service.
 */
const forwardedRequestHeaders = [
  "accept",
  "accept-encoding",
  "content-encoding",
  "content-type",
  "idempotency-key",
  "if-match",
  "if-none-match",
  "if-range",
  "last-event-id",
  "prefer",
  "range",
  "user-agent",
];

/** The response headers that are not forwarded to the client: hop-by-hop headers, and headers that the gateway sets. */
const strippedResponseHeaders = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-request-id",
]);

interface UpstreamRequest {
  method: Dispatcher.HttpMethod;
  headers: Record<string, string>;
  /** The path and query. */
  target: string;
  body: Buffer | Readable | null;
  /** Whether the response is a stream, which stays open until the client disconnects. */
  isStream: boolean;
  /** Aborted when the client no longer waits for the response. */
  signal: AbortSignal;
}

/** Responses of known and small size, and responses without a body, are buffered. */
const isSmallResponse = (statusCode: number, headers: IncomingHttpHeaders): boolean =>
  Number(headers["content-length"]) <= maxBufferedBytes || statusCode === 204 || statusCode === 304;

/** Creates a forwarder that sends requests over HTTP to a service in another process. */
export function createHttpForwarder({ url, sign, signBody }: RemoteService, timeouts: ForwardTimeouts) {
  const options: Pool.Options = {
    pipelining: 1,
    keepAliveTimeout: 60_000,
    headersTimeout: timeouts.responseTimeoutMs,
    bodyTimeout: timeouts.responseTimeoutMs,
    connect: { timeout: 5_000 },
  };
  const pool = new Pool(url, { ...options, connections: locationLimits.forwardedRequests.perProcess });
  // Streams occupy connections for a long time, so they use a separate pool without a connection limit.
  const streamPool = new Pool(url, { ...options, bodyTimeout: timeouts.streamIdleTimeoutMs });

  const requests = new Admission(locationLimits.forwardedRequests);
  const uploads = new Admission(locationLimits.forwardedUploads);
  const uploadsOfKeys = new Admission(locationLimits.forwardedUploadsOfKey);
  const sendWhenConnected = createConnectionWait(url, timeouts.connectWaitMs);

  async function sendUpstream(
    { requestId, traceparent, origin, principal, client }: RequestPrincipalAndMetadata,
    { method, headers, target, body, isStream, signal }: UpstreamRequest,
  ): Promise<UpstreamResponse> {
    const sender = getSenderId(principal);
    // Each attempt is signed anew, because a service accepts a signature once.
    const sendTo = (upstream: Pool, onConnected: () => void) => {
      const hasBody = body !== null;
      const signed = sign({ method, target, requestId, traceparent, origin, principal, client, hasBody });
      const upstreamRequest = {
        method,
        path: target,
        headers: { ...headers, ...signed },
        body: body && appendSignature(body, signBody(signed), onConnected),
      };
      const isBuffered = method === "HEAD" ? () => true : isSmallResponse;
      return requestUpstream(upstream, upstreamRequest, { signal, isBuffered });
    };
    const send = async (onConnected: () => void) => {
      signal.throwIfAborted();
      if (isStream) return sendTo(streamPool, onConnected);
      const permit = await requests.acquire(sender, { signal });
      try {
        const response = await sendTo(pool, onConnected);
        // The connection is occupied until the client has received the body.
        if (response.body instanceof Readable) response.body.once("close", () => permit.release());
        else permit.release();
        return response;
      } catch (error) {
        permit.release();
        throw error;
      }
    };
    const bodyBytes = Buffer.isBuffer(body) ? body.byteLength : 0;
    return sendWhenConnected(send, { sender, bodyBytes, signal });
  }

  /** Sends a request to the service, and returns or sends its response. */
  async function exchange(context: GatewayHonoContext, signal: AbortSignal): Promise<Response> {
    const request = context.get("request");
    const { incoming, outgoing } = request;
    const target = requestTargetOf(context.req.url);
    const stream = hasRequestBody(incoming) ? createRequestBodyStream(incoming) : null;
    const body = stream && !isStreamedUpload(incoming) ? await buffer(stream) : stream;
    const upstreamRequest: UpstreamRequest = {
      method: incoming.method as Dispatcher.HttpMethod,
      headers: pickForwardedHeaders(incoming),
      ...{ target, body, signal, isStream: request.isStream },
    };
    const send = () => sendUpstream(request, upstreamRequest);
    // A request with another method may have been processed before its connection closed.
    const isRead = incoming.method === "GET" || incoming.method === "HEAD";
    const sent = isRead ? retryIfConnectionCloses(send, signal, () => (request.isRetried = true)) : send();
    const upstreamResponse = await sent.catch((error: unknown) => {
      // The rest of the body is discarded, so that the client gets its response.
      if (body instanceof Readable) body.destroy();
      throw error;
    });
    const { statusCode, body: responseBody } = upstreamResponse;
    const headers = pickClientHeaders(upstreamResponse.headers);
    if (!(responseBody instanceof Readable)) {
      if (headers["content-type"] === problemContentType) {
        const { code, issues } = readProblem(responseBody);
        Object.assign(request, { errorCode: code, issues });
      }
      // Hono replaces the response to HEAD by another one.
      if (incoming.method === "HEAD") return new Response(null, { status: statusCode, headers });
      if (outgoing.destroyed) return responseAlreadySent;
      outgoing.writeHead(statusCode, headers);
      outgoing.end(responseBody);
      return responseAlreadySent;
    }
    if (request.isStreamEnded) responseBody.destroy();
    request.throwIfStreamEnded();
    outgoing.writeHead(statusCode, headers);
    outgoing.flushHeaders();
    let upstreamError: unknown;
    responseBody.once("error", (error) => {
      if (!signal.aborted) upstreamError = error;
    });
    // Prevents Node's warning about more than 10 listeners, because middleware and `pipeline` add several listeners.
    outgoing.setMaxListeners(20);
    await pipeline(responseBody, outgoing).catch(() => {});
    if (upstreamError !== undefined) throw upstreamError;
    return responseAlreadySent;
  }

  return {
    async forward(context: GatewayHonoContext): Promise<Response> {
      const request = context.get("request");
      const { incoming, outgoing, principal } = request;
      if (outgoing.destroyed) return responseAlreadySent;
      const abort = new AbortController();
      const { signal } = abort;
      const cancel = () => abort.abort(new errors.RequestAbortedError());
      outgoing.once("close", () => {
        if (request.isAborted || request.isStreamEnded) cancel();
      });
      // A request that waits for a change would otherwise wait until the service responds.
      request.onStreamEndedBeforeHeaders = cancel;
      const send = () => exchange(context, signal);
      const upload = () => uploads.run(send, getSenderId(principal), { signal });
      const response = isStreamedUpload(incoming) ? uploadsOfKeys.run(upload, principal.keyId, { signal }) : send();
      return response.catch((error) => {
        request.throwIfStreamEnded();
        throw toUpstreamApiError(error);
      });
    },
    /** Sends a GET request of the gateway for a client. Returns the response when its headers have arrived. */
    async get(identity: RequestPrincipalAndMetadata, target: string, signal: AbortSignal): Promise<Response> {
      const request: UpstreamRequest = { method: "GET", headers: {}, target, body: null, isStream: false, signal };
      try {
        const send = () => sendUpstream(identity, request);
        const { statusCode, headers, body } = await retryIfConnectionCloses(send, signal);
        const content = body instanceof Readable ? (Readable.toWeb(body) as ReadableStream) : new Uint8Array(body);
        return new Response(content, {
          status: statusCode,
          headers: pickClientHeaders(headers),
        });
      } catch (error) {
        throw toUpstreamApiError(error);
      }
    },
    async close(): Promise<void> {
      await Promise.all([pool.destroy(), streamPool.destroy()]);
    },
  };
}

/**
 * Returns the body of a request to undici, with the body's signature at its end. Undici would destroy a stream if it cannot
 * connect. It does not begin to read an iterable before it has connected.
 */
function appendSignature(body: Buffer | Readable, signature: Hmac, onConnected: () => void): Buffer | Readable {
  if (Buffer.isBuffer(body)) return Buffer.concat([body, signature.update(body).digest()]);
  const iterable = {
    async *[Symbol.asyncIterator]() {
      onConnected();
      for await (const chunk of body) {
        signature.update(chunk);
        yield chunk;
      }
      yield signature.digest();
    },
  };
  return iterable as unknown as Readable;
}

/** Returns whether to stream a body. Small bodies are buffered, so that slow clients occupy no service connection. */
function isStreamedUpload(incoming: IncomingMessage): boolean {
  const length = incoming.headers["content-length"];
  return hasRequestBody(incoming) && (length === undefined || Number(length) > maxBufferedBytes);
}

function requestTargetOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const fragment = url.indexOf("#", start);
  return url.slice(start, fragment === -1 ? undefined : fragment);
}

export function pickHeaders(headers: IncomingHttpHeaders, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined) picked[name] = String(value);
  }
  return picked;
}

function pickForwardedHeaders(incoming: IncomingMessage): Record<string, string> {
  const { headers, method } = incoming;
  const forwarded = pickHeaders(headers, forwardedRequestHeaders);
  // It is safe to forward the length, because Node has validated it and undici rejects a body of any other length.
  const length = headers["content-length"];
  if (length !== undefined && method !== "GET" && method !== "HEAD")
    forwarded["content-length"] = hasRequestBody(incoming) ? String(Number(length) + bodySignatureBytes) : length;
  return forwarded;
}

function pickClientHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const clientHeaders: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && !strippedResponseHeaders.has(name)) clientHeaders[name] = value as string;
  }
  return clientHeaders;
}

const problemContentType = "application/problem+json";

/** Returns the error code and the issues in the body of an error response, as far as the body contains them. */
export function readProblem(body: Uint8Array): { code: string | undefined; issues?: RequestIssue[] } {
  try {
    const { code, errors } = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString());
    return typeof code === "string" && Object.hasOwn(apiErrorDefinitions, code)
      ? { code, issues: errors }
      : { code: undefined };
  } catch {
    return { code: undefined };
  }
}

/** Calls `send` once more if its connection closes. Its request must only read. */
async function retryIfConnectionCloses<T>(send: () => Promise<T>, signal: AbortSignal, onRetry = () => {}): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (signal.aborted || !isConnectionClosed(error)) throw error;
    onRetry();
    // If several connections were closed at the same time, the pool may otherwise use another closed one.
    await nextEventLoopIteration();
    return send();
  }
}

function isConnectionClosed(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return error instanceof errors.SocketError || code === "ECONNRESET" || code === "EPIPE";
}

export function createUpstreamTimeoutError(cause?: unknown): ApiError {
  return new ApiError("upstream_timeout", {
    detail: "The service did not respond in time. Retry shortly.",
    cause,
  });
}

function toUpstreamApiError(cause: unknown): unknown {
  if (cause instanceof ApiError) return cause;
  if (cause instanceof errors.HeadersTimeoutError || cause instanceof errors.BodyTimeoutError) {
    return createUpstreamTimeoutError(cause);
  }
  if (!isConnectionClosed(cause) && !(cause instanceof errors.UndiciError) && !isTransient(cause)) return cause;
  return new ApiError("service_unavailable", {
    detail: isConnectionClosed(cause)
      ? "The connection to the service was lost. The request may or may not have been processed."
      : "The service is unreachable. The request was not processed. Retry shortly.",
    cause,
  });
}
