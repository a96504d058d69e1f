import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { HttpBindings } from "@hono/node-server";
import { maxClientAddressLength, maxUserAgentLength } from "@pragma/contracts/audit";
import { ApiError, type RequestIssue } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import type { ServiceName } from "@pragma/contracts/service-names";
import type { TokenBucketRate } from "@pragma/runtime/admission/token-bucket";
import type { RequestClient, RequestPrincipalAndMetadata } from "@pragma/runtime/http/request-identity";
import {
  formatTraceparent,
  type Span,
  SpanKind,
  startIncomingRequestSpan,
} from "@pragma/runtime/observability/tracing";
import type { Context, MiddlewareHandler } from "hono";
import { getClientIpAddress, getPublicBaseUrl, type ProxyConfig } from "./client-address.ts";

/** The types of the gateway's Hono context: Node's request and response, and the gateway's own request object. */
export interface GatewayHonoEnv {
  Bindings: HttpBindings;
  Variables: { request: GatewayRequestState };
}

export type GatewayHonoContext = Context<GatewayHonoEnv>;
export type GatewayMiddleware = MiddlewareHandler<GatewayHonoEnv>;

/**
 * A cached API key. All requests with the key share the same principal object, so that the principal is serialized only
 * once per lookup.
 */
export interface CachedApiKey {
  principal: Principal;
  /** The individual rate limit of the consumer, or null for the default rate limit. */
  rateLimit: TokenBucketRate | null;
  isRevoked: boolean;
  /** The Unix time in milliseconds at which the key stops working; null if never. */
  expiresAt: number | null;
}

/** The key of all requests to routes that need none. It may do nothing else, and its requests are no usage of a key. */
export const anonymousKey: CachedApiKey = {
  principal: { keyId: "00000000-0000-0000-0000-000000000000", consumer: "anonymous", scopes: [], location: null },
  ...{ rateLimit: null, isRevoked: false, expiresAt: null },
};

/** Returns why a key is rejected, or undefined for a valid key. A cached key expires exactly, also while cached. */
export function getApiKeyRejection({ isRevoked, expiresAt }: CachedApiKey): "key_revoked" | "key_expired" | undefined {
  if (isRevoked) return "key_revoked";
  return expiresAt !== null && expiresAt <= Date.now() ? "key_expired" : undefined;
}

type StreamEndReason = "key_revoked" | "key_expired" | "service_unavailable";

const requestIdPattern = /^[\x21-\x7e]{1,128}$/;

/**
 * The state of one request at the gateway. Middleware sets its fields. The gateway builds the forwarded headers and the
 * log line from these fields. Services in this process receive the object as the identity of the request.
 */
export class GatewayRequestState implements RequestPrincipalAndMetadata {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly startedAt = performance.now();
  /** The client's `x-request-id` if it has 1 to 128 visible ASCII characters, otherwise a new UUID. */
  readonly requestId: string;
  /** The trace span of the request. It is not recorded while tracing is off. */
  readonly span: Span;
  readonly #proxies: ProxyConfig;
  readonly #socket: Socket;
  readonly #bytesWrittenBefore: number;
  #origin: string | undefined;
  #endReason: StreamEndReason | undefined;
  readonly logFields: Record<string, unknown> = {};
  /** The path without the query, which is matched against routes. */
  path = "";
  /** The matched route. `service` is undefined if the gateway responds itself. */
  route: { prefix: string; service?: ServiceName } | undefined;
  key: CachedApiKey | undefined;
  /** The error code if the gateway itself, or a service in another process, responds with an error. */
  errorCode: string | undefined;
  /** The issues of an invalid request. */
  issues: readonly RequestIssue[] | undefined;
  isRetried = false;
  /** Whether the response is a stream, which stays open until the client disconnects. */
  isStream = false;
  /** Called if the gateway ends the stream before its headers have been sent. */
  onStreamEndedBeforeHeaders: () => void = () => {};

  constructor({ incoming, outgoing }: HttpBindings, proxies: ProxyConfig) {
    this.incoming = incoming as IncomingMessage;
    this.outgoing = outgoing as ServerResponse;
    this.#proxies = proxies;
    this.#socket = this.incoming.socket;
    this.#bytesWrittenBefore = this.#socket.bytesWritten;
    const { "x-request-id": clientRequestId, traceparent } = this.incoming.headers;
    const isUsable = typeof clientRequestId === "string" && requestIdPattern.test(clientRequestId);
    this.requestId = isUsable ? clientRequestId : randomUUID();
    const parent = typeof traceparent === "string" ? traceparent : undefined;
    this.span = startIncomingRequestSpan({ name: "gateway", kind: SpanKind.SERVER }, parent);
  }

  get principal(): RequestPrincipalAndMetadata["principal"] {
    if (!this.key) throw new Error("The request is not authenticated.");
    return this.key.principal;
  }

  get traceparent(): string {
    return formatTraceparent(this.span);
  }

  /**
   * The base of absolute links, such as `https://api.example`.
   *
   * @throws `ApiError` invalid_request when the Host header, or a trusted X-Forwarded-Host header, is not a valid host.
   */
  get origin(): string {
    this.#origin ??= getPublicBaseUrl(this.incoming, this.#proxies);
    return this.#origin;
  }

  get clientAddress(): string {
    return getClientIpAddress(this.incoming, this.#proxies);
  }

  /** The client's address and user agent, cut to the maximum lengths of logs and of the audit log. */
  get client(): RequestClient {
    return {
      address: this.clientAddress.slice(0, maxClientAddressLength),
      userAgent: this.incoming.headers["user-agent"]?.slice(0, maxUserAgentLength) ?? null,
    };
  }

  /**
   * The number of response bytes sent so far. All bytes that the connection has sent since the request began are
   * counted, because a connection sends only one response at a time.
   */
  get bytesSent(): number {
    return this.#socket.bytesWritten - this.#bytesWrittenBefore;
  }

  /** Whether part of the response is unsent. After the connection has closed, this means an aborted response. */
  get isAborted(): boolean {
    return !this.outgoing.writableFinished;
  }

  /**
   * With `Expect: 100-continue`, the client waits for status 100 before it sends the body. After status 100, it certainly
   * sends the body, so the connection can stay open.
   */
  continueIfExpected(): void {
    if (this.incoming.headers.expect === undefined) return;
    this.outgoing.writeContinue();
    this.outgoing.removeHeader("connection");
  }

  /** Ends a stream. If its headers have not been sent yet, the request is rejected with an error instead. */
  endStream(reason: StreamEndReason = "service_unavailable"): void {
    if (this.#endReason || this.outgoing.destroyed) return;
    this.#endReason = reason;
    if (!this.outgoing.headersSent) {
      this.onStreamEndedBeforeHeaders();
      return;
    }
    this.outgoing.end();
    const timeout = setTimeout(() => this.outgoing.destroy(), streamFlushTimeoutMs).unref();
    this.outgoing.once("close", () => clearTimeout(timeout));
  }

  /** Whether the gateway has ended the stream. False if the service ended it. */
  get isStreamEnded(): boolean {
    return this.#endReason !== undefined;
  }

  /** Throws if the gateway has ended the stream. @throws `ApiError` key_revoked, key_expired or service_unavailable */
  throwIfStreamEnded(): void {
    if (this.#endReason && this.#endReason !== "service_unavailable") throw new ApiError(this.#endReason);
    if (this.#endReason) throw new ApiError("service_unavailable", { headers: { "retry-after": "1" } });
  }
}

/** Maximum milliseconds that a client has to read the rest of a stream that the gateway has ended. */
const streamFlushTimeoutMs = 2_000;

interface GatewayRequestOptions {
  proxies: ProxyConfig;
  /** Called after the response has been sent or the client has disconnected. */
  onFinished(request: GatewayRequestState): void;
}

/** Returns middleware that creates the `GatewayRequestState` of each request and calls `onFinished` after the response. */
export function createGatewayRequest({ proxies, onFinished }: GatewayRequestOptions): GatewayMiddleware {
  return async (context, next) => {
    const request = new GatewayRequestState(context.env, proxies);
    context.set("request", request);
    request.path = context.req.path;
    const { outgoing } = request;
    outgoing.setHeader("x-request-id", request.requestId);
    // If a request with `Expect: 100-continue` is rejected, the client may or may not send the body. The connection is
    // closed, because the next bytes could be either the body or the next request.
    if (request.incoming.headers.expect !== undefined) outgoing.setHeader("connection", "close");
    outgoing.once("close", () => onFinished(request));
    await next();
  };
}
