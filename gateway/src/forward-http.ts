import { ApiError } from "@pragma/contracts/errors";
import { isPassing } from "@pragma/runtime/passing-cause";
import { ConnectionPool } from "./connection-pool.ts";
import type { Exchange } from "./exchange.ts";
import type { OnFailure } from "./forward.ts";
import { requestHeaderLines } from "./forwarded-headers.ts";
import { headersIn, linesOf } from "./header-lines.ts";
import type { ReplyHead } from "./reply-head.ts";
import { type BodySending, sendBody } from "./send-body.ts";
import { endReply } from "./send-reply.ts";
import type { Asking, ServiceConnection } from "./service-connection.ts";
import type { Progress, ProgressWatch } from "./watch-progress.ts";

/** Passes requests on to a service over HTTP, and its replies back, as they come. */
export interface HttpForwarder {
  forward(exchange: Exchange, options: { principalToken: string; onFailure: OnFailure }): void;
  close(): void;
}

export function createHttpForwarder(url: string, watch: ProgressWatch): HttpForwarder {
  const service = new URL(url);
  const pool = new ConnectionPool(service);
  return {
    forward(exchange, { principalToken, onFailure }) {
      const head = requestHead(exchange, service.host, requestHeaderLines(exchange, principalToken));
      new Hop(exchange, { head, pool, watch, onFailure }).start();
    },
    close: () => pool.close(),
  };
}

/** The head of a request as it goes to a service. */
function requestHead({ method, target, isCounted, body }: Exchange, host: string, headerLines: string): string {
  const encoding = body && !isCounted ? "transfer-encoding: chunked\r\n" : "";
  return (
    `${method} ${target.path}${target.search} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n` +
    `${encoding}${headerLines}\r\n`
  );
}

interface HopOptions {
  head: string;
  pool: ConnectionPool;
  watch: ProgressWatch;
  onFailure: OnFailure;
}

/** What connections fail with when the other side closed them. */
const closed = new Set(["ECONNRESET", "EPIPE"]);

/**
 * One request on its way to a service, from socket to socket: nothing is held, and each side goes no faster than the
 * other takes it.
 */
class Hop implements Asking {
  readonly #exchange: Exchange;
  readonly #options: HopOptions;
  readonly #progress: Progress;
  #connection: ServiceConnection | undefined;
  #sending: BodySending | undefined;
  #hasAnswered = false;
  #hasEnded = false;

  constructor(exchange: Exchange, options: HopOptions) {
    this.#exchange = exchange;
    this.#options = options;
    this.#progress = options.watch.begin(exchange, () =>
      this.#giveUp(new ApiError("upstream_timeout", { detail: "The service took too long. Try again in a moment." })),
    );
  }

  start(): void {
    const exchange = this.#exchange;
    exchange.whenGone(() => this.#giveUp(new Error("The client went away.")));
    const connection = this.#ask();
    const { body } = exchange;
    if (!body) return;
    body.on("data", () => this.#progress.made());
    exchange.welcomeBody();
    this.#sending = sendBody(body, connection.socket, { inChunks: !exchange.isCounted });
  }

  #ask(): ServiceConnection {
    const connection = this.#options.pool.take();
    this.#connection = connection;
    connection.ask(this.#options.head, this.#exchange.method === "HEAD", this);
    return connection;
  }

  onHead({ status, lines: passed, length, isDated, isStream }: ReplyHead): void {
    const exchange = this.#exchange;
    const { outgoing } = exchange;
    this.#hasAnswered = true;
    this.#progress.made();
    const lines = passed + linesOf(exchange.replyHeaders());
    const facts = { isCounted: length !== undefined, isDated, isLast: exchange.isLast };
    if (outgoing.writeHeadLines) outgoing.writeHeadLines(status, lines, facts);
    else outgoing.writeHead(status, headersIn(lines));
    if (length === undefined) outgoing.flushHeaders();
    if (!isStream) return;
    this.#progress.stop();
    exchange.becomeStream();
  }

  onBody(part: Buffer, isLast: boolean): void {
    const exchange = this.#exchange;
    const { outgoing } = exchange;
    const connection = this.#connection;
    exchange.bytes += part.length;
    if (isLast) {
      this.#hasEnded = true;
      endReply(exchange, part);
      // What the client has not taken at once is still to be written from where it was read to.
      if (outgoing.socket?.writableLength !== 0) connection?.lend();
      return;
    }
    this.#progress.made();
    if (outgoing.write(part, connection?.lend())) return;
    connection?.pause();
    outgoing.once("drain", () => {
      this.#progress.made();
      this.#connection?.resume();
    });
  }

  onEnd(): void {
    if (!this.#hasEnded) endReply(this.#exchange);
    const connection = this.#connection;
    const isReusable = this.#sending?.isDone() ?? true;
    this.#settle();
    if (connection && isReusable) this.#options.pool.giveBack(connection);
    else connection?.giveUp();
  }

  onError(error: Error): void {
    if (this.#canBeTriedAgain(error)) {
      this.#exchange.isRetried = true;
      this.#ask();
      return;
    }
    this.#settle();
    this.#options.onFailure(asApiError(error));
  }

  /** A request that changes nothing is tried once more when its connection was closed before anything came back. */
  #canBeTriedAgain(error: Error): boolean {
    const { method, isRetried } = this.#exchange;
    return (method === "GET" || method === "HEAD") && !isRetried && !this.#hasAnswered && isClosed(error);
  }

  #giveUp(failure: Error): void {
    this.#connection?.giveUp();
    this.#settle();
    this.#options.onFailure(failure);
  }

  #settle(): void {
    this.#progress.stop();
    this.#sending?.stop();
    this.#connection = undefined;
    this.#exchange.whenGone(undefined);
  }
}

function isClosed(error: Error): boolean {
  return "code" in error && typeof error.code === "string" && closed.has(error.code);
}

function asApiError(cause: Error): unknown {
  if (!isPassing(cause)) return cause;
  return new ApiError("service_unavailable", {
    detail: isClosed(cause)
      ? "The service went away while it was asked. What was asked may or may not have been done."
      : "The service cannot be reached. Nothing was done; try again in a moment.",
    headers: { "retry-after": "2" },
    cause,
  });
}
