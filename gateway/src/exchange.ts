import { randomUUID } from "node:crypto";
import { IncomingMessage } from "node:http";
import { nextSpan } from "@pragma/runtime/request-context";
import { beginSpanOfClient, type Span, SpanKind } from "@pragma/runtime/tracing";
import { addressOf, type ClientOrigin, originOf, type Surroundings } from "./caller.ts";
import type { ClientReply, ClientRequest } from "./client-side.ts";
import type { Cors } from "./cors.ts";
import type { KnownKey } from "./key-cache.ts";
import { readTarget, type Target } from "./target.ts";
import { routeOf, type UpstreamRoute } from "./upstreams.ts";

/** What every exchange of a gateway shares. */
export interface ExchangeSetting {
  surroundings: Surroundings;
  cors: Cors;
  /** Whether the gateway is stopping, so that connections should not be kept. */
  isStopping(): boolean;
  /** Told of a reply that goes on for as long as it likes. */
  onStream(exchange: Exchange): void;
}

const acceptableId = /^[\x21-\x7e]{1,128}$/;
/** What is left of a body up to this many bytes is read rather than its connection closed. */
const smallBody = 64 * 1024;
/** How long the rest of a stream that was ended may take to reach its client, in milliseconds. */
const partingTime = 5_000;

/** One request on its way through the gateway, its reply, and what the log will say of both. */
export class Exchange {
  readonly incoming: ClientRequest;
  readonly outgoing: ClientReply;
  readonly method: string;
  readonly started = performance.now();
  /** The client's own `x-request-id` when it is one to visible ASCII characters up to 128, else a new uuid. */
  readonly requestId: string;
  readonly trace: ReturnType<typeof nextSpan>;
  /** Undefined while nothing is traced. */
  readonly span: Span | undefined;
  /** The body that is sent on, as it comes; undefined when there is none, as for the methods that only read. */
  readonly body: IncomingMessage | undefined;
  target: Target = { path: "", search: "" };
  route: UpstreamRoute | undefined;
  key: KnownKey | undefined;
  limitHeaders: string[] | undefined;
  /** The code of the problem that the gateway itself answered with. */
  code: string | undefined;
  /** Bytes of the reply's body. */
  bytes = 0;
  isRetried = false;
  /** Whether the reply goes on for as long as it likes. */
  isStream = false;
  /** Whether the gateway itself ended the reply before its service did. */
  isEnded = false;
  #onGone: (() => void) | undefined;
  readonly #setting: ExchangeSetting;
  #awaitsContinue: boolean;

  constructor(incoming: ClientRequest, outgoing: ClientReply, setting: ExchangeSetting) {
    const { headers } = incoming;
    const given = headers["x-request-id"];
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.method = incoming.method ?? "GET";
    this.requestId = typeof given === "string" && acceptableId.test(given) ? given : randomUUID();
    const traceparent = headers.traceparent as string | undefined;
    this.span = beginSpanOfClient({ name: "gateway", kind: SpanKind.SERVER }, traceparent);
    this.trace = this.span?.spanContext() ?? nextSpan(traceparent);
    const isRead = this.method === "GET" || this.method === "HEAD";
    this.body = !isRead && announcesBody(incoming) && incoming instanceof IncomingMessage ? incoming : undefined;
    this.#setting = setting;
    this.#awaitsContinue = headers.expect !== undefined;
  }

  /** @throws `ApiError` invalid_request when the request line holds no address. */
  readTarget(): void {
    this.target = readTarget(this.incoming.url ?? "/");
    this.route = routeOf(this.target.path);
  }

  /** @throws `ApiError` invalid_request when the request's host is not one. */
  get origin(): ClientOrigin {
    return originOf(this.incoming, this.#setting.surroundings);
  }

  get address(): string {
    return addressOf(this.incoming, this.#setting.surroundings);
  }

  /** Whether it is known how long the body is. */
  get isCounted(): boolean {
    return this.incoming.headers["content-length"] !== undefined;
  }

  /** What is still to come of a request before the connection can be used for the next. */
  get unread(): IncomingMessage | undefined {
    const { incoming } = this;
    return !incoming.complete && incoming instanceof IncomingMessage ? incoming : undefined;
  }

  /** Whether nothing comes of a body that is waited for. */
  get isClientSlow(): boolean {
    return this.unread?.isPaused() === false;
  }

  /** Whether the client has gone away, so that nobody waits for the reply any longer. */
  get isGone(): boolean {
    return this.outgoing.destroyed && !this.outgoing.writableFinished;
  }

  /**
   * What to do once, should the client go away before the reply has ended; undefined when there is nothing more to do.
   *
   * A method, since V8 takes a function that is assigned to a property for one that will live long: what it refers to
   * would be all that there is of a request, and would stay until old memory is cleared.
   */
  whenGone(act: (() => void) | undefined): void {
    this.#onGone = act;
  }

  /** The client has gone away. */
  abandon(): void {
    this.#onGone?.();
  }

  /** Tells a client that waits to be told (`expect: 100-continue`) to send its body. */
  welcomeBody(): void {
    if (this.#awaitsContinue) this.outgoing.writeContinue();
    this.#awaitsContinue = false;
  }

  /** Whether the client still waits with its body, and will not send it once it has its reply. */
  get isBodyHeldBack(): boolean {
    return this.#awaitsContinue;
  }

  /** Whether the reply comes before a body that is too large to be read for nothing has come in. */
  get isAnsweredEarly(): boolean {
    if (!this.unread || !announcesBody(this.incoming)) return false;
    const declared = this.incoming.headers["content-length"];
    return this.#awaitsContinue || declared === undefined || Number(declared) > smallBody;
  }

  /** The reply has begun, and goes on for as long as it likes. */
  becomeStream(): void {
    this.isStream = true;
    this.#setting.onStream(this);
  }

  /** Ends a reply that goes on for as long as it likes. Its service hears that nobody listens any more. */
  endStream(): void {
    if (this.isEnded || this.outgoing.destroyed) return;
    this.isEnded = true;
    this.outgoing.end();
    const parting = setTimeout(() => this.outgoing.destroy(), partingTime).unref();
    this.outgoing.once("close", () => clearTimeout(parting));
    this.abandon();
  }

  /** What the gateway says in every reply: name, value, name, value. */
  replyHeaders(): string[] {
    const headers = ["x-request-id", this.requestId, ...this.#setting.cors.replyHeaders(this.incoming.headers.origin)];
    if (this.limitHeaders) headers.push(...this.limitHeaders);
    if (this.isLast) headers.push("connection", "close");
    return headers;
  }

  /** Whether the connection ends with this reply. */
  get isLast(): boolean {
    return this.isAnsweredEarly || this.#setting.isStopping();
  }
}

function announcesBody({ headers }: ClientRequest): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}
