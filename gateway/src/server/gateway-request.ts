import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { HttpBindings } from "@hono/node-server";
import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import type { ServiceName } from "@pragma/contracts/service-names";
import type { RequestIdentity } from "@pragma/runtime/http/request-identity";
import type { TokenBucketRate } from "@pragma/runtime/limits/token-bucket";
import { formatTraceparent, type Span, SpanKind, startClientRequestSpan } from "@pragma/runtime/observability/tracing";
import type { Context, MiddlewareHandler } from "hono";
import { getClientIpAddress, type ProxyConfig, requestOriginOf } from "./client-address.ts";

/** The environment of the gateway's Hono app: Node's request and response, and the gateway's own request object. */
export interface GatewayEnv {
  Bindings: HttpBindings;
  Variables: { request: GatewayRequest };
}

export type GatewayContext = Context<GatewayEnv>;
export type GatewayMiddleware = MiddlewareHandler<GatewayEnv>;

/** An API key as the gateway caches it. The principal stays the same object, so that it is signed once a minute. */
export interface CachedApiKey {
  principal: Principal;
  /** The consumer's own rate limit; null for the default. */
  rateLimit: TokenBucketRate | null;
  isRevoked: boolean;
}

const requestIdPattern = /^[\x21-\x7e]{1,128}$/;

/**
 * One request at the gateway. Middleware fills it in; the forwarded headers and the log line are built from it.
 * Services in this process receive it as the identity of the request.
 */
export class GatewayRequest implements RequestIdentity {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly startedAt = performance.now();
  /** The client's own `x-request-id` when it has 1 to 128 visible ASCII characters, else a new UUID. */
  readonly requestId: string;
  /** The trace span of the request; it records nothing when tracing is off. */
  readonly span: Span;
  readonly #proxies: ProxyConfig;
  readonly #socket: Socket;
  readonly #bytesWrittenBefore: number;
  #origin: string | undefined;
  #endReason: "key_revoked" | "service_unavailable" | undefined;
  readonly logFields: Record<string, unknown> = {};
  /** The path without the query, as routes match it. */
  path = "";
  route: { prefix: string; service: ServiceName } | undefined;
  key: CachedApiKey | undefined;
  /** The code of an error that the gateway itself responded with. */
  errorCode: string | undefined;
  isRetried = false;
  /** Whether the response stays open until the client closes it. */
  isStream = false;

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
    this.span = startClientRequestSpan({ name: "gateway", kind: SpanKind.SERVER }, parent);
  }

  get principal(): RequestIdentity["principal"] {
    if (!this.key) throw new Error("The request is not authenticated.");
    return this.key.principal;
  }

  get traceparent(): string {
    return formatTraceparent(this.span);
  }

  /**
   * The scheme and host that the client used.
   *
   * @throws `ApiError` invalid_request when the Host header is not a valid host.
   */
  get origin(): string {
    this.#origin ??= requestOriginOf(this.incoming, this.#proxies);
    return this.#origin;
  }

  get clientAddress(): string {
    return getClientIpAddress(this.incoming, this.#proxies);
  }

  /** Bytes of the response sent so far, headers included. A connection carries one response at a time. */
  get bytesSent(): number {
    return this.#socket.bytesWritten - this.#bytesWrittenBefore;
  }

  /** Whether the response is incomplete. After the connection has closed: whether it was aborted. */
  get isAborted(): boolean {
    return !this.outgoing.writableFinished;
  }

  /** Ends a stream, and with it the service's response. A stream whose headers are not sent yet is rejected instead. */
  endStream(reason: "key_revoked" | "service_unavailable" = "service_unavailable"): void {
    if (this.#endReason || this.outgoing.destroyed) return;
    this.#endReason = reason;
    if (!this.outgoing.headersSent) return;
    this.outgoing.end();
    const timeout = setTimeout(() => this.outgoing.destroy(), streamFlushTimeoutMs).unref();
    this.outgoing.once("close", () => clearTimeout(timeout));
  }

  /** Whether the gateway, and not the service, ended the stream. */
  get isStreamEnded(): boolean {
    return this.#endReason !== undefined;
  }

  /** @throws `ApiError` key_revoked or service_unavailable when the stream was ended before its headers were sent. */
  throwIfStreamEnded(): void {
    if (this.#endReason === "key_revoked") throw new ApiError("key_revoked");
    if (this.#endReason) throw new ApiError("service_unavailable", { headers: { "retry-after": "1" } });
  }
}

/** How long the client of an ended stream may take to read what is left. */
const streamFlushTimeoutMs = 2_000;

interface GatewayRequestOptions {
  proxies: ProxyConfig;
  /** Called once the response has been sent or the client has disconnected. */
  onFinished(request: GatewayRequest): void;
}

/** Creates the `GatewayRequest` of every request, with its id and trace span, and reports when it has finished. */
export function gatewayRequestMiddleware({ proxies, onFinished }: GatewayRequestOptions): GatewayMiddleware {
  return async (context, next) => {
    const request = new GatewayRequest(context.env, proxies);
    context.set("request", request);
    request.path = context.req.path;
    const { outgoing } = request;
    outgoing.setHeader("x-request-id", request.requestId);
    // When a request with `Expect: 100-continue` is rejected, the client may still send the body or not. The next bytes
    // on the connection are then ambiguous, so the connection is closed.
    if (request.incoming.headers.expect !== undefined) outgoing.setHeader("connection", "close");
    outgoing.once("close", () => onFinished(request));
    await next();
  };
}
