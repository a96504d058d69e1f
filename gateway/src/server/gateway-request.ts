import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { HttpBindings } from "@hono/node-server";
import { ApiError } from "@pragma/contracts/errors";
import type { ServiceName } from "@pragma/contracts/service-names";
import type { RequestIdentity } from "@pragma/runtime/http/request-identity";
import { formatTraceparent, type Span, SpanKind, startClientRequestSpan } from "@pragma/runtime/observability/tracing";
import type { Context, MiddlewareHandler } from "hono";
import type { CachedApiKey } from "../auth/key-cache.ts";
import { clientAddressOf, type ProxyConfig, requestOriginOf } from "./client-address.ts";

/** What Hono knows of a request at the gateway. */
export interface GatewayEnv {
  Bindings: HttpBindings;
  Variables: { request: GatewayRequest };
}

export type GatewayContext = Context<GatewayEnv>;
export type GatewayMiddleware = MiddlewareHandler<GatewayEnv>;

const requestIdPattern = /^[\x21-\x7e]{1,128}$/;

/**
 * One request at the gateway: what its middleware finds out, the service is told, and the log line says. It is the
 * caller that a service of this process is given.
 */
export class GatewayRequest implements RequestIdentity {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly startedAt = performance.now();
  /** The client's own `x-request-id` when it is one to 128 visible ASCII characters, else a new uuid. */
  readonly requestId: string;
  /** Its place in the trace; it records nothing while nothing is traced. */
  readonly span: Span;
  readonly #proxies: ProxyConfig;
  readonly #socket: Socket;
  readonly #bytesBefore: number;
  #origin: string | undefined;
  #endReason: "key_revoked" | "service_unavailable" | undefined;
  readonly logFields: Record<string, unknown> = {};
  /** The path by which it was routed. */
  path = "";
  route: { prefix: string; service: ServiceName } | undefined;
  key: CachedApiKey | undefined;
  /** The code of the problem that the gateway itself answered with. */
  errorCode: string | undefined;
  isRetried = false;
  /** Whether the response goes on for as long as the client likes. */
  isStream = false;

  constructor({ incoming, outgoing }: HttpBindings, proxies: ProxyConfig) {
    this.incoming = incoming as IncomingMessage;
    this.outgoing = outgoing as ServerResponse;
    this.#proxies = proxies;
    this.#socket = this.incoming.socket;
    this.#bytesBefore = this.#socket.bytesWritten;
    const { "x-request-id": given, traceparent } = this.incoming.headers;
    this.requestId = typeof given === "string" && requestIdPattern.test(given) ? given : randomUUID();
    const parent = typeof traceparent === "string" ? traceparent : undefined;
    this.span = startClientRequestSpan({ name: "gateway", kind: SpanKind.SERVER }, parent);
  }

  get principal(): RequestIdentity["principal"] {
    if (!this.key) throw new Error("A request has a principal once its key is known.");
    return this.key.principal;
  }

  get traceparent(): string {
    return formatTraceparent(this.span);
  }

  /**
   * Scheme and host that the client used.
   *
   * @throws `ApiError` invalid_request when the host cannot be one.
   */
  get origin(): string {
    this.#origin ??= requestOriginOf(this.incoming, this.#proxies);
    return this.#origin;
  }

  get clientAddress(): string {
    return clientAddressOf(this.incoming, this.#proxies);
  }

  /** Bytes of the response so far, its head included: a connection carries one at a time. */
  get bytesSent(): number {
    return this.#socket.bytesWritten - this.#bytesBefore;
  }

  /** Whether the response has not been sent whole: once it is closed, that it was broken off. */
  get isAborted(): boolean {
    return !this.outgoing.writableFinished;
  }

  /** Ends a stream; one that has not begun is refused when it does. Its service notices that nobody reads it any more. */
  endStream(reason: "key_revoked" | "service_unavailable" = "service_unavailable"): void {
    if (this.#endReason || this.outgoing.destroyed) return;
    this.#endReason = reason;
    if (!this.outgoing.headersSent) return;
    this.outgoing.end();
    const timeout = setTimeout(() => this.outgoing.destroy(), streamFlushTimeoutMs).unref();
    this.outgoing.once("close", () => clearTimeout(timeout));
  }

  /** Whether the gateway ended the stream before its service did. */
  get isStreamEnded(): boolean {
    return this.#endReason !== undefined;
  }

  /** @throws `ApiError` key_revoked or service_unavailable when the stream was ended before it began. */
  throwIfStreamEnded(): void {
    if (this.#endReason === "key_revoked") throw new ApiError("key_revoked");
    if (this.#endReason) throw new ApiError("service_unavailable", { headers: { "retry-after": "1" } });
  }
}

/** How long the rest of a stream that was ended may take to reach its client. */
const streamFlushTimeoutMs = 2_000;

interface GatewayRequestOptions {
  proxies: ProxyConfig;
  /** Called once the response has been sent, or the client has gone. */
  onFinished(request: GatewayRequest): void;
}

/** Gives every request its id and its place in the trace, and logs it when it is over. */
export function gatewayRequestMiddleware({ proxies, onFinished }: GatewayRequestOptions): GatewayMiddleware {
  return async (context, next) => {
    const request = new GatewayRequest(context.env, proxies);
    context.set("request", request);
    request.path = context.req.path;
    const { outgoing } = request;
    outgoing.setHeader("x-request-id", request.requestId);
    // A client that waits to be told to send its body, and is refused instead, may send it or not: what comes next on
    // the connection could be either.
    if (request.incoming.headers.expect !== undefined) outgoing.setHeader("connection", "close");
    outgoing.once("close", () => onFinished(request));
    await next();
  };
}
