import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { HttpBindings } from "@hono/node-server";
import { ApiError } from "@pragma/contracts/errors";
import type { ServiceName } from "@pragma/contracts/service-names";
import type { Caller } from "@pragma/runtime/caller";
import { beginSpanOfClient, type Span, SpanKind, traceparentOf } from "@pragma/runtime/tracing";
import type { Context, MiddlewareHandler } from "hono";
import { addressOf, originOf, type ProxyConfig } from "./client-address.ts";
import type { KnownKey } from "./key-cache.ts";

/** What Hono knows of a request at the gateway. */
export interface GatewayEnv {
  Bindings: HttpBindings;
  Variables: { request: GatewayRequest };
}

export type GatewayContext = Context<GatewayEnv>;
export type GatewayMiddleware = MiddlewareHandler<GatewayEnv>;

const acceptableId = /^[\x21-\x7e]{1,128}$/;

/**
 * One request at the gateway: what its middleware finds out, the service is told, and the log line says. It is the
 * caller that a service of this process is given.
 */
export class GatewayRequest implements Caller {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly started = performance.now();
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
  key: KnownKey | undefined;
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
    this.requestId = typeof given === "string" && acceptableId.test(given) ? given : randomUUID();
    const parent = typeof traceparent === "string" ? traceparent : undefined;
    this.span = beginSpanOfClient({ name: "gateway", kind: SpanKind.SERVER }, parent);
  }

  get principal(): Caller["principal"] {
    if (!this.key) throw new Error("A request has a principal once its key is known.");
    return this.key.principal;
  }

  get traceparent(): string {
    return traceparentOf(this.span);
  }

  /**
   * Scheme and host that the client used.
   *
   * @throws `ApiError` invalid_request when the host cannot be one.
   */
  get origin(): string {
    this.#origin ??= originOf(this.incoming, this.#proxies);
    return this.#origin;
  }

  get address(): string {
    return addressOf(this.incoming, this.#proxies);
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
    const timeout = setTimeout(() => this.outgoing.destroy(), streamEndTimeoutMs).unref();
    this.outgoing.once("close", () => clearTimeout(timeout));
  }

  /** Whether the gateway ended the stream before its service did. */
  get isEnded(): boolean {
    return this.#endReason !== undefined;
  }

  /** @throws `ApiError` key_revoked or service_unavailable when the stream was ended before it began. */
  throwIfEnded(): void {
    if (this.#endReason === "key_revoked") throw new ApiError("key_revoked");
    if (this.#endReason) throw new ApiError("service_unavailable", { headers: { "retry-after": "1" } });
  }
}

/** How long the rest of a stream that was ended may take to reach its client. */
const streamEndTimeoutMs = 2_000;

interface RequestIdOptions {
  proxies: ProxyConfig;
  /** Called once the response has been sent, or the client has gone. */
  onDone(request: GatewayRequest): void;
}

/** Gives every request its id and its place in the trace, and logs it when it is over. */
export function requestId({ proxies, onDone }: RequestIdOptions): GatewayMiddleware {
  return async (context, next) => {
    const request = new GatewayRequest(context.env, proxies);
    context.set("request", request);
    request.path = context.req.path;
    const { outgoing } = request;
    outgoing.setHeader("x-request-id", request.requestId);
    // A client that waits to be told to send its body, and is refused instead, may send it or not: what comes next on
    // the connection could be either.
    if (request.incoming.headers.expect !== undefined) outgoing.setHeader("connection", "close");
    outgoing.once("close", () => onDone(request));
    await next();
  };
}
